"""What preparing translation data costs beside the tagger: time, scaling, memory.

python benchmarks/prepare.py --source train.en --target train.de              # the bars' sizes
python benchmarks/prepare.py --source train.en --target train.de --lines 2000 --repeats 3
python benchmarks/prepare.py --source train.en --target train.de --parts overhead --layers pos,dep

overhead  annotating, cutting into subwords and binarising N lines (codes given, one process, the
          loading of the pipeline included) over spaCy's ``nlp.pipe`` on the same raw source lines,
          with the whole pipeline as ``spacy.load`` gives it and with the components used alone;
          the pipeline is the bundled one that has ``--layers``;
scaling   the same preparation in one process over that in two;
memory    peak resident memory of the command at ten times the lines over that at N lines.

Every process does its arithmetic in one thread. Sides take turns; figures are medians.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from fairseq_plugins.lab.commands import command as started  # noqa: E402
from fairseq_plugins.prep.recipes.translation import prepare  # noqa: E402
from fairseq_plugins.prep.recipes.translation_options import TranslationOptions  # noqa: E402
from fairseq_plugins.text.annotate import load_pipeline  # noqa: E402
from fairseq_plugins.text.annotators import load_annotator  # noqa: E402
from fairseq_plugins.text.raw_text import line_reader  # noqa: E402
from fairseq_plugins.text.segment import learn_codes  # noqa: E402

LAYERS = "pos,case,subword"  # of preparation, where none are named
PARTS = ("overhead", "scaling", "memory")
MEMORY_FACTOR = 10
SAMPLE_SECONDS = 0.05


def repeated_lines(path: Path, count: int) -> list[str]:
    """Return ``count`` lines of a file, from its start again where it is too short."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return list(islice(cycle(lines[:-1] if lines[-1] == "" else lines), count))


def write_corpus(args: argparse.Namespace, folder: Path, lines: int) -> Path:
    """Write the parallel text of a size; return its prefix."""
    prefix = folder / f"lines{lines}"
    for lang, source in (("en", args.source), ("de", args.target)):
        text = "".join(f"{line}\n" for line in repeated_lines(source, lines))
        Path(f"{prefix}.{lang}").write_text(text, encoding="utf-8", newline="\n")
    return prefix


def write_codes(args: argparse.Namespace, folder: Path, lines: int) -> Path:
    """Learn joint codes once; learning is no part of any figure."""
    counts: Counter[str] = Counter()
    for lang, source in (("en", args.source), ("de", args.target)):
        read = line_reader("moses", "none", lang)
        for line in repeated_lines(source, min(lines, 30_000)):
            counts.update(read(line).split())
    path = folder / "codes.bpe"
    path.write_text(learn_codes(counts, args.bpe_size), encoding="utf-8", newline="\n")
    return path


def time_prepare(prefix: Path, codes: Path, workers: int, layers: str) -> float:
    """Seconds of one preparation."""
    folder = prefix.parent / "out"
    given = dict(bpe_codes=str(codes), workers=workers, layers=layers)
    options = TranslationOptions("en", "de", str(folder), str(prefix), **given)
    start = time.perf_counter()
    prepare(options)
    seconds = time.perf_counter() - start
    shutil.rmtree(folder)
    return seconds


def time_pipe(lines: list[str], pipeline: str, exclude: tuple[str, ...]) -> float:
    """Seconds of spaCy alone on raw lines, with a freshly loaded pipeline."""
    nlp = load_pipeline(pipeline, exclude)
    start = time.perf_counter()
    for _ in nlp.pipe(lines):
        pass
    return time.perf_counter() - start


def take_turns(sides: dict[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """Measure every side ``repeats`` times, one after the other."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(repeats):
        for name, measure in sides.items():
            found[name].append(measure())
            print(f"repeat {number + 1} {name}: {found[name][-1]:.2f} s", file=sys.stderr)
    return found


def tree(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return
    for child in children:
        yield from tree(int(child))


def resident(pid: int) -> int:
    """Resident bytes of a process; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_memory(prefix: Path, codes: Path, workers: int, layers: str) -> tuple[float, float]:
    """Run the command; return the peaks of its largest process and of all together, in MiB."""
    folder = prefix.parent / "out"
    command = [*started("prepare translation"), "-s", "en", "-t", "de"]
    command += ["--trainpref", prefix, "--destdir", folder, "--bpe-codes", codes]
    command += ["--workers", workers, "--layers", layers]
    child = subprocess.Popen([*map(str, command)], stderr=subprocess.DEVNULL)
    largest = together = 0
    while child.poll() is None:
        sizes = [resident(pid) for pid in tree(child.pid)]
        largest, together = max(largest, *sizes), max(together, sum(sizes))
        time.sleep(SAMPLE_SECONDS)
    if child.returncode:
        raise RuntimeError(f"the command failed: {' '.join(map(str, command))}")
    shutil.rmtree(folder)
    return largest / 2**20, together / 2**20


def report_overhead(args: argparse.Namespace, folder: Path, codes: Path) -> list[str]:
    """Rows of the overhead table."""
    prefix, lines = write_corpus(args, folder, args.lines), repeated_lines(args.source, args.lines)
    annotator = load_annotator(args.layers.split(","))
    unused = {*load_pipeline(annotator.model, ()).pipe_names} - {*annotator.nlp.pipe_names}
    bar = "<= 1.10" if args.layers == LAYERS else "<= 1.30"
    sides = {
        "preparation": lambda: time_prepare(prefix, codes, 1, args.layers),
        "whole pipeline": lambda: time_pipe(lines, annotator.model, ()),
        "components used": lambda: time_pipe(lines, annotator.model, (*unused,)),
    }
    found = take_turns(sides, args.repeats)
    ours = found.pop("preparation")
    return [
        row(f"{args.layers}: preparation over nlp.pipe, {name}", ours, other, bar)
        for (name, other), bar in zip(found.items(), (bar, "none"))
    ]


def report_scaling(args: argparse.Namespace, folder: Path, codes: Path) -> list[str]:
    """Row of the scaling table."""
    prefix = write_corpus(args, folder, args.lines)
    sides = {str(n): lambda n=n: time_prepare(prefix, codes, n, args.layers) for n in (1, 2)}
    one, two = take_turns(sides, args.repeats).values()
    return [row("one process over two", one, two, ">= 1.8")]


def report_memory(args: argparse.Namespace, folder: Path, codes: Path) -> list[str]:
    """Rows of the memory table."""
    peaks = []
    for lines in (args.lines, MEMORY_FACTOR * args.lines):
        prefix = write_corpus(args, folder, lines)
        peaks.append(peak_memory(prefix, codes, args.workers, args.layers))
        print(f"{lines} lines: {peaks[-1][0]:.0f} and {peaks[-1][1]:.0f} MiB", file=sys.stderr)
    return [
        f"| peak of {name}, {MEMORY_FACTOR} x over 1 x | {ten:.0f} MiB | {one:.0f} MiB "
        f"| {ten / one:.3f} | <= 1.15 |"
        for name, one, ten in zip(("the largest process", "all processes together"), *peaks)
    ]


def row(name: str, first: list[float], second: list[float], bar: str) -> str:
    """One table row: both medians in seconds, their ratio, the bar."""
    one, two = statistics.median(first), statistics.median(second)
    ratios = [a / b for a, b in zip(first, second)]
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    return f"| {name} | {one:.2f} s | {two:.2f} s | {one / two:.3f} ({spread}) | {bar} |"


def machine() -> str:
    """What the figures were taken on."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} x {model}, Python {platform.python_version()}"


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, help="raw English text")
    parser.add_argument("--target", type=Path, required=True, help="its German translation")
    parser.add_argument("--lines", type=int, default=30_000, help="lines, by repeating the text")
    parser.add_argument("--repeats", type=int, default=7, help="repeats of each side")
    parser.add_argument("--bpe-size", type=int, default=8000, help="merge operations")
    parser.add_argument("--workers", type=int, default=2, help="processes of the memory part")
    parser.add_argument("--layers", default=LAYERS, help="layers of the source words")
    parser.add_argument("--parts", default=",".join(PARTS), help="of: " + ",".join(PARTS))
    args = parser.parse_args()
    unknown = set(args.parts.split(",")) - set(PARTS)
    if unknown or args.lines < 1 or args.repeats < 1:
        parser.error(f"--parts takes {', '.join(PARTS)}; --lines and --repeats at least 1")
    return args


def main() -> None:
    """Measure the parts asked for and print one Markdown table."""
    args = parse()
    reports = dict(zip(PARTS, (report_overhead, report_scaling, report_memory)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = write_codes(args, folder, args.lines)
        rows = [r for part in args.parts.split(",") for r in reports[part](args, folder, codes)]
    print(f"{machine()}; {args.lines} lines, {args.repeats} repeats, one thread a process")
    print(f"`python benchmarks/prepare.py {' '.join(sys.argv[1:])}`\n")
    print("| what | first | second | ratio (range) | bar |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
