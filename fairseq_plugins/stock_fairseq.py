"""Lets fairseq 0.12.2 from PyPI be imported on Python 3.11 and later, fairseq itself unchanged.

Its options are dataclasses with other dataclasses as defaults. Python 3.11 refuses a default that
has no hash: the classes of such defaults get the hash by identity, which plain classes have.

fairseq's own commands import fairseq before any ``--user-dir``, so set-up runs this file: it copies
itself among the installed packages, with a ``.pth`` file by which every Python of that environment
calls `watch`. It imports nothing of this package, and hardly anything until fairseq is imported.
"""

import sys

HOST = "fairseq"
NAME = "stock_fairseq"


class Watch:
    """A finder that finds nothing: it repairs `dataclasses` before fairseq is found, and leaves."""

    host = HOST

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Return None, so that the other finders go on."""
        if name == HOST:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            _repair()


def watch() -> None:
    """Have `dataclasses` repaired once fairseq is imported; on Python 3.10 nothing is done."""
    known = HOST in sys.modules or any(getattr(one, "host", None) == HOST for one in sys.meta_path)
    if sys.version_info >= (3, 11) and not known:
        sys.meta_path.insert(0, Watch())  # type: ignore[arg-type]


def _repair() -> None:
    """Have defaults without a hash accepted in the dataclasses of fairseq, and in no others."""
    import dataclasses

    original = getattr(dataclasses, "_get_field", None)
    if original is None:  # another Python: fairseq's own error says more
        return

    def get_field(cls: type, name: str, *more: object) -> object:
        default = getattr(cls, name, None)
        if isinstance(default, dataclasses.Field):
            default = default.default
        kind = type(default)
        of_fairseq = cls.__module__.partition(".")[0] == HOST
        if of_fairseq and dataclasses.is_dataclass(kind) and kind.__hash__ is None:
            kind.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]
        return original(cls, name, *more)

    dataclasses._get_field = get_field  # type: ignore[attr-defined]


def install(folder: str) -> None:
    """Copy this file into a folder of packages, with the ``.pth`` file that calls `watch`."""
    import shutil

    shutil.copyfile(__file__, f"{folder}/{NAME}.py")
    with open(f"{folder}/{NAME}.pth", "w", encoding="utf-8") as file:
        file.write(f"import {NAME}; {NAME}.watch()\n")


if __name__ == "__main__":
    import sysconfig

    install(sysconfig.get_path("purelib"))
