"""One working folder in which the folders of `recipes` are made when somebody asks for them."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from frozen import commands
from frozen.recipes import FOLDERS

HERE = Path(__file__).parent
MANIFEST = "manifest.json"
DIGITS = 16  # of a SHA-256 that are kept on record
VERSION = re.compile(rb'"version": "[^"]*"')  # of the package, in records beside raw files
PACKAGES = re.compile(r'"[^"\n]*/site-packages')  # where the embedded model lies


class Workshop:
    """Makes each folder once.

    Args:
        place: an empty folder; gets a copy of the raw files.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._made: set[str] = set()
        shutil.copytree(HERE / "raw", place / "raw")

    def folder(self, name: str) -> Path:
        """Return a folder of `FOLDERS`, made with all that it needs."""
        recipe = FOLDERS[name]
        for needed in recipe.needs:
            self.folder(needed)
        if name not in self._made:
            for line in recipe.lines:
                if "@/" in line:
                    (self.place / name).mkdir(exist_ok=True)
                command, _, words = line.partition("|")
                arguments = [word.replace("@", name) for word in shlex.split(words)]
                commands.run(command.strip(), *arguments, cwd=self.place)
            self._made.add(name)
        return self.place / name


def digest(content: bytes) -> str:
    """Return the first digits of the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def record(folder: Path) -> dict[str, Any]:
    """Say what a folder holds: the digest of every file, and the manifest without versions.

    Versions of tools follow the machine; which tools they are of does not. What the manifest says
    of the other files is checked here and left out: their digests are on record anyway. Files of
    which it says nothing are ``unlisted``.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    text = found.pop(MANIFEST, b"").decode("utf-8").replace(str(folder.parent.resolve()), "@")
    text = PACKAGES.sub('"@', text)
    recorded: dict[str, Any] = {"files": {name: digest(body) for name, body in found.items()}}
    if not text:
        plain = {name: VERSION.sub(b'"version": ""', body) for name, body in found.items()}
        return {"files": {name: digest(body) for name, body in plain.items()}}
    manifest = json.loads(text)
    assert text == json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    products = manifest.pop("products")
    for name, entry in products.items():
        body = found[name]
        assert entry == {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}, name
    manifest["unlisted"] = [name for name in found if name not in products]
    manifest["versions"] = [*manifest["versions"]]
    return recorded | {"manifest": manifest}


def read_frozen(name: str) -> Any:
    """Read what is on record under a name."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def write_frozen(name: str, body: Any) -> Path:
    """Put something on record under a name."""
    path = HERE / f"{name}.json"
    text = json.dumps(body, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path
