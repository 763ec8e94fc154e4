#!/usr/bin/env python
"""The service under concurrent requests: what is lost or mixed up, how many a second, how late.

python benchmarks/service_load.py bundles/cola sentences.txt

Clients (threads of a process of their own, `http.client`, one connection each) ask the service on
this machine for the class of one sentence after another. Every answer is compared with the one that
the bare model gives that sentence; sentences are taken whose answers differ by ten times more than
the comparison allows, so that an answer to another request is seen. The bare model stands beside
it, in a process of its own as well. Nothing is left running.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import platform
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

BATCH = 32
HEADERS = {"Content-Type": "application/json"}
APART = 10  # how many tolerances lie between the answers of two sentences
LONGEST = 3600  # seconds
LOST, MIXED, WRONG = "lost", "mixed up", "refused"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bundle", type=Path, help="of a model that gives sentences classes")
    parser.add_argument("sentences", type=Path, help="one a line; of a TSV the last column")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=2e-6, help="8 bits need 0.02")
    parser.add_argument("--bare", type=int, default=1024, help="sentences of the bare model")
    parser.add_argument("--options", default="", help="further options of the service")
    args = parser.parse_args()
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    expected, bare = elsewhere(ask_bare, args)
    with service(args) as (process, port):
        before = cpu_seconds(process.pid)
        done = elsewhere(ask_service, args, port, expected)
        done["server"] = cpu_seconds(process.pid) - before
        done["batch"] = mean_batch(port)
    print(report(args, bare, done, len(expected)))
    sys.exit(1 if any(done["bad"].values()) else 0)


def elsewhere(work: Callable[..., Any], *given: Any) -> Any:
    """Do work in a process of its own that began from nothing; return what it returns."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply_async(work, given).get(LONGEST)


def ask_bare(args: argparse.Namespace) -> tuple[dict[str, float], dict[str, Any]]:
    """Ask the bare model; return answers by sentence, and how fast it is."""
    import torch

    from fairseq_plugins import load

    torch.set_num_threads(1)
    model = load(args.bundle, cpu=True)
    first = model.labels[0]
    lines = args.sentences.read_text(encoding="utf-8").splitlines()
    texts = [*dict.fromkeys(text for line in lines if (text := line.split("\t")[-1].strip()))]
    found = [one.probabilities[first] for one in model.predict(texts)]
    chosen: dict[str, float] = {}
    last = -1.0
    for value, text in sorted(zip(found, texts)):
        if value - last > APART * args.tolerance:
            chosen[text], last = value, value
    some = texts[: args.bare]
    speeds = {
        "one text after another": timed(model.predict, [[text] for text in some], 1),
        f"batches of {BATCH}": timed(model.predict, [*cut(some)], 1),
        f"batches of {BATCH}, {args.workers} threads": timed(
            model.predict, [*cut(some)], args.workers
        ),
    }
    return chosen, speeds


def cut(texts: Sequence[str]) -> Iterator[list[str]]:
    """Cut texts into batches."""
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield batch


def timed(work: Callable[[list[str]], Any], batches: list[list[str]], threads: int) -> Any:
    """Return texts a second, texts a CPU second, and the milliseconds of each batch, sorted."""
    spent: list[float] = []

    def one(batch: list[str]) -> None:
        start = time.perf_counter()
        work(batch)
        spent.append(1000 * (time.perf_counter() - start))

    start, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, batches))
    count = sum(map(len, batches))
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return count / wall, count / cpu, sorted(spent)


@contextmanager
def service(args: argparse.Namespace) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start the service at a free port of this machine; end it, and see that it ends well."""
    words = [sys.executable, "-m", "fairseq_plugins", "serve", str(args.bundle), "--port", "0"]
    words += ["--cpu", "--workers", str(args.workers), "--log-level", "warning"]
    words += args.options.split()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            sys.exit(f"the service did not start: {' '.join(words)}")
        yield process, int(line.strip().rpartition(":")[2])
        process.send_signal(signal.SIGTERM)
        print(f"exit status of the service: {process.wait(60)}")
    finally:
        process.kill()
        process.wait()


def ask_service(args: argparse.Namespace, port: int, expected: dict[str, float]) -> dict[str, Any]:
    """Let all clients ask; return milliseconds of each request, seconds, and what went wrong."""
    texts, numbers = [*expected], iter(range(args.requests))
    lock = threading.Lock()
    spent, bad = [], dict.fromkeys((LOST, MIXED, WRONG), 0)

    def client() -> None:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return link.close()
            text = texts[number * 7919 % len(texts)]  # no neighbours in a row
            start = time.perf_counter()
            found = ask(link, text, expected[text], args.tolerance)
            took = 1000 * (time.perf_counter() - start)
            with lock:
                spent.append(took)
                if found:
                    bad[found] += 1

    start, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(args.clients) as pool:
        for one in [pool.submit(client) for _ in range(args.clients)]:
            one.result()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"wall": wall, "client": cpu, "spent": sorted(spent), "bad": bad}


def ask(link: http.client.HTTPConnection, text: str, value: float, tolerance: float) -> str:
    """Ask once; say what is wrong with the answer, or nothing."""
    try:
        link.request("POST", "/predict", json.dumps({"texts": [text]}).encode(), HEADERS)
        answer = link.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException):
        link.close()
        return LOST
    if answer.status != 200:
        return WRONG
    (found,) = json.loads(body)["answers"]
    first = next(iter(found["probabilities"].values()))
    return "" if abs(first - value) <= tolerance else MIXED


def mean_batch(port: int) -> float:
    """Return the mean size of the service's batches."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    link.request("GET", "/metrics")
    lines = link.getresponse().read().decode().splitlines()
    link.close()
    total, count = (
        next(float(line.split()[-1]) for line in lines if f"batch_texts_{part}{{" in line)
        for part in ("sum", "count")
    )
    return total / count


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(values: Sequence[float], part: float) -> float:
    """Return the value below which a part of sorted values lies."""
    return values[min(len(values) - 1, int(part * len(values)))]


def report(args: argparse.Namespace, bare: dict[str, Any], done: dict[str, Any], known: int) -> str:
    """Return the tables."""
    bad = ", ".join(f"{count} {what}" for what, count in done["bad"].items())
    count = len(done["spent"])
    lines = [
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load average after "
        f"{os.getloadavg()[0]:.1f}; {count} requests by {args.clients} clients about {known} "
        f"sentences, {args.workers} workers: {bad}; mean batch {done['batch']:.1f}\n",
        "| | texts a second | texts a CPU second | p50, ms | p95 | p99 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    rows = {"service": (count / done["wall"], count / done["server"], done["spent"])}
    for name, (rate, cpu, spent) in (rows | {f"bare, {k}": v for k, v in bare.items()}).items():
        times = " | ".join(f"{share(spent, part):.1f}" for part in (0.5, 0.95, 0.99))
        lines.append(f"| {name} | {rate:.0f} | {cpu:.0f} | {times} |")
    each = {name: 1000 * done[name] / count for name in ("server", "client")}
    model = 1000 / bare[f"batches of {BATCH}"][1]
    lines.append(
        f"\nCPU milliseconds a request: service {each['server']:.2f}, clients "
        f"{each['client']:.2f}; bare model in batches of {BATCH} {model:.2f}; mean wait "
        f"{statistics.mean(done['spent']):.1f} ms"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
