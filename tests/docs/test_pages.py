"""Pages of the repository: what they name is there: files, headings, commands, options.

The site's own build checks the same links again as it shows them (`test_site.py`).
"""

from __future__ import annotations

import re
import shlex
from argparse import SUPPRESS
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path

from links import CODE, FENCE, links_of, target_of
from notebooks import page_of
from pymdownx.slugs import slugify
from reference import command_parsers, pages
from site_pages import NOTEBOOKS, SHOWN

from fairseq_plugins.cli.subcommands import find
from fairseq_plugins.option_flags import flag_of
from fairseq_plugins.registration import ours, parser_of_class, registries

ROOT = Path(__file__).parents[2]
SITE = ["README.md", *(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md"))]
FORMS = [p.relative_to(ROOT).as_posix() for p in (ROOT / ".github").rglob("*.yml")]
SHOWN_PAGES = {*SITE, *SHOWN, *NOTEBOOKS}
PAGES = sorted(SHOWN_PAGES | {*FORMS})
PROGRAMS = ["benchmarks/**/*.py", "examples/*/*.py", "scripts/*.py", "tests/conftest.py"]
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
OTHERS = {
    "--version",  # of fairseq-plugins itself
    *("--json", "--local-dir", "--echo"),  # curl, hf, sacrebleu
    *("--no-deps", "--no-build-isolation", "--no-index", "--wheel"),  # pip, build
    *("--build-arg", "--rm"),  # docker
    *("--nodes", "--cpus-per-task", "--array", "--wrap", "--kill-on-bad-exit"),
    *("--nnodes", "--nproc-per-node", "--rdzv-backend", "--rdzv-endpoint", "--no-python"),
    *("--extra", "--resolution", "--upgrade"),  # uv
    *("--ablation", "--replace", "--valid"),  # of scripts that read or make their options otherwise
    *("--config-dir", "--config-name", "--sacrebleu", "--user-dir", "--strict"),
    *re.findall(r"--[a-z]+(?=\))", (ROOT / "scripts" / "pack_offline.sh").read_text()),
}
SPLIT = re.compile(r"\[[^\[\]`]*\n[^\[\]`]*\]\(([^()\s]+)\)")  # a link over two lines
COMMAND = re.compile(r"fairseq-plugins(?: +(?!--)[a-z][a-z-]*){1,2}")
END = re.compile(r"[|;&>)]|--$|2>")
FOLDERS = "benchmarks|docs|examples|fairseq_plugins|scripts|tests"
FILE = re.compile(rf"(?<![\w./~$}}-])(?:{FOLDERS})/[\w./*{{}},-]*[\w/*}}]")
MODULE = re.compile(r"-m ((?:benchmarks|fairseq_plugins)[\w.]*)")
MADE = {f"examples/evidence/rows/{name}" for name in ("FILE", "cola.jsonl", "sts_b.jsonl")}
MOST_WORDS = 45_000  # of the site without its reference


known_commands = cache(command_parsers)


def read(page: str) -> str:
    path = ROOT / page
    return page_of(path) if page in NOTEBOOKS else path.read_text(encoding="utf-8")


def code_of(text: str) -> tuple[list[str], list[str]]:
    """Return a page's code: lines of its blocks (continued ones joined), and pieces of lines."""
    blocks, pieces, fenced = [], [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
            continue
        if not fenced:
            pieces += [match.group().strip("`") for match in CODE.finditer(line)]
        elif blocks and blocks[-1].endswith("\\"):
            blocks[-1] = blocks[-1][:-1] + line
        else:
            blocks.append(line)
    return blocks, pieces


@cache
def known_flags() -> set[str]:
    """Return all options of our commands and programs, of what is registered, and of fairseq's."""
    ours_too = [parser_of_class(cls) for kind in registries() for cls in ours(kind).values()]
    parsers = [*known_commands().values(), *ours_too, *fairseq_parsers()]
    programs = "".join(path.read_text() for name in PROGRAMS for path in ROOT.glob(name))
    known = {flag for parser in parsers for flag in parser._option_string_actions}
    return known | {*re.findall(r'"(--[a-z][\w-]*)"', programs)}


def fairseq_parsers():
    from fairseq import options

    yield options.get_preprocessing_parser()
    yield options.get_training_parser()
    yield options.get_validation_parser()
    yield options.get_interactive_generation_parser()
    for registry in registries().values():
        for cls in registry.values():
            with suppress(Exception):  # some of fairseq's cannot be asked
                yield parser_of_class(cls)


def unknown_flags(text: str) -> list[str]:
    """Return options that a page names and no program has; ``--distributed-*`` names several."""
    known = known_flags() | OTHERS
    found = {(m.group(), text[m.end() : m.end() + 2]) for m in FLAG.finditer(text)}
    several = {flag for flag, after in found if flag.endswith("-") and after[:1] in "*…"}
    wrong = {flag for flag, _ in found if flag not in known | several}
    return sorted(wrong | {one for one in several if not any(k.startswith(one) for k in known)})


def wrong_of(pages: list[str], wrong: Callable[[str], list[str]]) -> dict[str, list[str]]:
    found = {page: wrong(page) for page in pages}
    return {page: said for page, said in found.items() if said}


def test_options_that_pages_name_exist():
    assert wrong_of(PAGES, lambda page: unknown_flags(read(page))) == {}


def test_an_option_that_does_not_exist_is_found():
    assert unknown_flags("`--tree-treshold 3`, `--distribooted-*`") == [
        "--distribooted-",
        "--tree-treshold",
    ]


def commands_of(text: str) -> list[list[str]]:
    """Return the words of our commands in a page's code, up to a pipe, a semicolon or ``--``."""
    blocks, pieces = code_of(text)
    found = []
    for line in [*blocks, *pieces]:
        for part in line.split("fairseq-plugins ")[1:]:
            try:
                words = shlex.split(part, comments=True)
            except ValueError:  # a quote that ends in front of the command
                words = part.split()
            found.append([*takewhile(lambda word: not END.match(word), words)])
    return [words for words in found if words and re.fullmatch("[a-z-]+", words[0])]


def wrong_commands(text: str) -> list[str]:
    """Return commands that there are not, and options that a command does not have."""
    parsers, wrong = known_commands(), []
    for words in commands_of(text):
        if words[0].startswith("-"):
            continue
        try:
            name = " ".join(find(words)[0])
        except ValueError as error:
            wrong.append(str(error))
            continue
        flags = {flag for word in words for flag in FLAG.findall(word.split("=")[0])}
        wrong += [f"{name} {flag}" for flag in flags - {*parsers[name]._option_string_actions}]
    return [one for one in wrong if not one.endswith("--help")]


def test_commands_of_pages_exist_with_their_options():
    assert wrong_of(PAGES, lambda page: wrong_commands(read(page))) == {}


def test_the_commands_of_the_first_page_are_looked_at():
    said = [words[0] for words in commands_of(read("README.md"))]
    assert {"prepare", "export", "predict", "ask", "run"} <= {*said}
    text = "```bash\nfairseq-plugins scor\nfairseq-plugins ask a \\\n    --contxt b\n```"
    wrong = wrong_commands(text)
    assert len(wrong) == 2
    assert wrong[1] == "ask --contxt"


def anchors_of(page: str) -> set[str]:
    slug = slugify(case="lower")
    titles = re.findall(r"^#+ (.*)$", "\n".join(outside_blocks(read(page))), re.M)
    return {slug(re.sub(r"`|\[|\]\([^)]*\)", "", title), "-") for title in titles}


def outside_blocks(text: str) -> list[str]:
    fenced, found = False, []
    for line in text.split("\n"):
        fenced ^= bool(FENCE.match(line))
        found += [] if fenced else [line]
    return found


def broken_links(text: str, page: str) -> list[str]:
    """Return a page's links that lead to no file or heading, or that the site cannot read."""
    wrong = SPLIT.findall("\n".join(outside_blocks(text)))
    for link in links_of(text):
        target = target_of(link, page)
        if target is None:
            continue
        there = (ROOT / target.path).exists()
        if not there or (target.anchor and target.anchor not in anchors_of(target.path)):
            wrong.append(link)
    return wrong


def test_links_of_pages_lead_somewhere():
    assert wrong_of(PAGES, lambda page: broken_links(read(page), page)) == {}


def test_a_link_to_nothing_is_found():
    text = "[a](gone.md), [b](../RESULTS.md#gone), [c](../RESULTS.md), [d](https://x.org/y)"
    assert broken_links(text, "docs/translate.md") == ["gone.md", "../RESULTS.md#gone"]
    assert broken_links("the [two\nlines](pairs.md)", "docs/choose.md") == ["pairs.md"]


def missing_files(text: str) -> list[str]:
    """Return paths that lead to no file; ``*``, ``{any}`` and ``{a,b}`` are several."""
    found = {one for match in FILE.findall(text) for one in alternatives(match)}
    modules = {name.rstrip(".").replace(".", "/") for name in MODULE.findall(text)}
    wrong = {one for one in found - MADE if not any(ROOT.glob(one))}
    return sorted(wrong | {one for one in modules if not any(ROOT.glob(f"{one}*"))})


def alternatives(path: str) -> list[str]:
    several = re.match(r"(.*?)\{(.*?)\}(.*)", path)
    if not several:
        return [path]
    before, names, after = several.groups()
    names = names if "," in names else "*"
    return [one for name in names.split(",") for one in alternatives(before + name + after)]


def test_files_that_pages_name_exist():
    assert wrong_of(PAGES, lambda page: missing_files(read(page))) == {}


def test_a_file_that_does_not_exist_is_found():
    text = "`scripts/{setup,gone}.sh`, `docs/*.md`, `runs/gone`, (`tests/*.none`), docs/demo.png."
    assert missing_files(text) == ["scripts/gone.sh", "tests/*.none"]
    assert missing_files("python -m benchmarks.speed; -m benchmarks.gone") == ["benchmarks/gone"]


def test_the_site_is_short_enough_to_be_read():
    words = {page: len(read(page).split()) for page in SHOWN_PAGES}
    table = "\n".join(f"{words[page]:6} {page}" for page in sorted(words, key=words.get))
    assert sum(words.values()) <= MOST_WORDS, table


def test_the_first_page_is_short_and_leads_to_the_others():
    text = read("README.md")
    assert len(text.splitlines()) <= 150
    assert "![" in text
    led = {target_of(link, "README.md").path for link in links_of(text) if ":" not in link}
    guides = {page for page in SITE if page.count("/") == 1} - {"docs/python.md"}
    assert guides <= led
    for script in re.findall(r"^bash (\S+)", text, re.M):
        assert (ROOT / script).is_file()


def test_the_reference_has_everything_that_is_registered():
    said = pages()
    for kind in registries():
        text = said[f"reference/{kind}.md"]
        assert ours(kind)
        for name, cls in ours(kind).items():
            own = text.split(f"## {name}\n")[1].split("\n## ")[0]
            actions = parser_of_class(cls)._actions
            public = [one.option_strings for one in actions if one.help != SUPPRESS]
            assert [f[0] for f in public if f and f"`{f[0]}`" not in own] == []
    for words, parser in command_parsers().items():
        own = said["reference/commands.md"].split(f"## {words}\n")[1].split("\n## ")[0]
        for flag in {*parser._option_string_actions} - {"-h", "--help"}:
            assert f"`{flag}`" in own


def test_the_reference_gives_values_defaults_and_presets():
    models = pages()["reference/models.md"]
    row = next(line for line in models.splitlines() if line.startswith("| `--tree-neighbours`"))
    assert "`asymmetric` `symmetric` `none` | `asymmetric`" in row
    assert "==SUPPRESS==" not in models
    assert "| `bert_sla_minilm` |" in models
    preset = next(line for line in models.splitlines() if line.startswith("| `bert_sla_released` "))
    assert f"`{flag_of('tree_threshold')} 3`" in preset
    assert "| `DATA` | text | required |" in pages()["reference/tasks.md"]
