"""The page of errors: each message that it quotes stands in the code whose message it is."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([^`]+)`(?: \(([\w.]+)\))? \|", re.M)
JOINT = re.compile(r'"\s*\n\s*f?"')  # inside a text that goes on in the next line


def ours() -> str:
    """Return what says our messages: the package and the set-up, texts joined."""
    paths = [*(ROOT / "fairseq_plugins").rglob("*.py"), ROOT / "scripts" / "setup.sh"]
    return "\0".join(JOINT.sub("", path.read_text(encoding="utf-8")) for path in paths)


def unsaid(page: str) -> list[str]:
    """Return messages of a page's tables that their module, or the package, does not say."""
    own = ours()
    return [
        message
        for message, module in ROW.findall(page)
        if message not in (Path(find_spec(module).origin).read_text("utf-8") if module else own)
    ]


def test_quoted_messages_stand_in_the_code():
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert unsaid(page) == []
    assert len(ROW.findall(page)) == sum(line.startswith("| `") for line in page.split("\n")) == 30


def test_a_message_that_nothing_says_is_found():
    page = (
        "| `never so said` | a |\n| `invalid choice` (argparse) | b |\n| `oh so` (argparse) | c |"
    )
    assert unsaid(page) == ["never so said", "oh so"]
