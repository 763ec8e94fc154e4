"""Requirements of the package, and instructions to install them."""

FAIRSEQ_REQUIREMENT = "fairseq-fixed==0.12.3.1"

FAIRSEQ_MISSING = f"""fairseq is not installed in this environment. Either run
    bash scripts/setup.sh
or, in an environment that already holds torch, numpy, cython, setuptools and wheel, run
    pip install --no-deps --no-build-isolation {FAIRSEQ_REQUIREMENT}"""


def how_to_add(extra: str) -> str:
    """Say how to install an extra of ``setup.py``; no index holds the package yet."""
    return f"in a clone of the project, run pip install -e '.[{extra}]'"
