"""The service as users start it: every kind of model, the answers of `load`, a clean end."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from inference import test_export
from inference.test_export import prepare
from test_layering import ABSENT

from fairseq_plugins import load
from fairseq_plugins.cli.main import main
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.translation_export import export_translation

LONG = 120  # seconds; never waited for
JSON = {"Content-Type": "application/json"}
SERVE = """
import sys
{absent}
from fairseq_plugins.cli.main import main
code = main(["serve", *sys.argv[1:]])
assert not {{"fairseq", "pandas", "matplotlib"}} & {{*sys.modules}}
sys.exit(code)
"""
TEXTS = ["The cat sat on the mat .", "mat the", "A dog , and a cat !", "Cats"]
PAIRS = [["the cat", "a dog"], ["mat good", "good"]]


def bundle(root, name, target, **changes):
    """Export a random model to ``root / name``, its prepared folder's manifest changed."""

    def prepared(folder, kind, target):
        prepare(folder, kind, target)
        path = folder / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return folder

    run = root / f"{name}-run"
    run.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(test_export, "prepare", prepared)
        export_checkpoint(test_export.checkpoint(run, target=target)[0], root / name)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Bundles of random models: of sentences, pairs and words."""
    root = tmp_path_factory.mktemp("served")
    bundle(root, "classes", "classes")
    bundle(root, "tags", "word_labels")
    bundle(root, "pairs", "classes", sentences=2)
    bundle(root, "score", "score", sentences=2, labels=[], positive="")
    return root


@contextmanager
def served(*words, absent=("fairseq", "hydra", "omegaconf", "pandas", "matplotlib")):
    """Start the service without fairseq; give what asks it, and its process."""
    code = SERVE.format(absent=ABSENT.format(absent=absent))
    command = [sys.executable, "-c", code, *map(str, words), "--port", "0", "--cpu"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith("serving "), process.stderr.read()
        port = int(line.rpartition(":")[2])

        def ask(name, content):
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG)
            link.request("POST", f"/models/{name}", json.dumps(content).encode(), JSON)
            answer = link.getresponse()
            found = json.loads(answer.read())
            link.close()
            return answer.status, found

        def get(path):
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG)
            link.request("GET", path)
            found = link.getresponse().read().decode()
            link.close()
            return found

        ask.get = get
        yield ask, process
    finally:
        process.kill()
        process.communicate()


def near(found, wanted):
    """Whether two records are alike, their numbers within 1e-5."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(near(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(near, found, wanted))
    return found == (pytest.approx(wanted, abs=1e-5) if isinstance(wanted, float) else wanted)


def records(model, texts):
    return [one.record() for one in model.predict(texts)]


@pytest.mark.slow
def test_answers_are_those_of_load_and_the_end_is_clean(bundles):
    """Requests that are under way at SIGTERM are answered."""
    classes, words = (load(bundles / name, cpu=True) for name in ("classes", "tags"))
    wanted = records(classes, TEXTS)
    assert len({one["probability"] for one in wanted}) > 2
    given = [bundles / "classes", f"words={bundles / 'tags'}", bundles / "pairs"]
    given += [bundles / "score", "--batch-size", "4"]
    with served(*given, "--max-texts", "1000", "--queue", "9999") as (ask, process):
        status, found = ask("classes", {"texts": TEXTS})
        assert (status, found["model"]) == (200, "classes")
        assert near(found["answers"], wanted)
        for text, one in zip(TEXTS, wanted):  # alone as among others
            alone = ask("classes", {"texts": [text]})[1]["answers"]
            assert near(alone, [{**one, "id": "0"}])
        mixed = [TEXTS[0], TEXTS[0].split()]
        assert near(ask("words", {"texts": mixed})[1]["answers"], records(words, mixed))
        for name in ("pairs", "score"):
            found = ask(name, {"texts": PAIRS})[1]["answers"]
            assert near(found, records(load(bundles / name, cpu=True), PAIRS))
        status, found = ask("classes", {"texts": ["a", "a " * 600]})
        assert status == 422
        assert "example 1 has 602 tokens" in found["error"]
        under_way, answers = [], []
        for number in range(3):
            more = [TEXTS[(number + k) % 4] for k in range(1000)]
            work = threading.Thread(
                target=lambda t=more: answers.append((t, ask("classes", {"texts": t})))
            )
            work.start()
            under_way.append(work)
        while "requests_in_flight 3\n" not in ask.get("/metrics"):
            assert not answers  # three are asked at once, and each takes a second
        process.send_signal(signal.SIGTERM)
        for work in under_way:
            work.join(LONG)
        assert process.wait(LONG) == 0
        assert "Traceback" not in process.stderr.read()
    assert len(answers) == 3
    for texts, (status, found) in answers:
        assert status == 200
        assert [one["label"] for one in found["answers"]] == [
            wanted[TEXTS.index(text)]["label"] for text in texts
        ]


@pytest.mark.slow
def test_questions_and_translations(answer_runs, model, tmp_path):
    export_checkpoint(answer_runs / "first", tmp_path / "squad")
    export_translation(model, tmp_path / "en_de")
    context = "Ilse\u00a0sold the  old bridge, in Gent.\nNadia found it. " * 9
    asked = [{"question": q, "context": context} for q in ("Who sold the bridge?", "Where is it?")]
    lines = ["She watches the old dog.", "The light closes the station!"]
    with served(tmp_path / "squad", tmp_path / "en_de") as (ask, process):
        reader = load(tmp_path / "squad", cpu=True)
        replies = [reader.answer(**one).record() for one in asked]
        found = ask("squad", {"questions": asked})[1]["answers"]
        assert near(found, [{**one, "id": str(k)} for k, one in enumerate(replies)])
        for one in found:
            assert one["answer"] == (context[one["begin"] : one["end"]] if one["answer"] else "")
        found = ask("en_de", {"texts": lines, "beam": 3, "nbest": 2})[1]["answers"]
        beams = load(tmp_path / "en_de").hypotheses(lines, beam=3, nbest=2)
        told = [[(each["translation"], each["score"]) for each in one["n_best"]] for one in found]
        assert near(told, [[(each.text, each.score) for each in beam] for beam in beams])
        assert [one["translation"] for one in found] == [beam[0].text for beam in beams]
        status, said = ask("en_de", {"texts": ["x", "the dog " * 700]})
        assert (status, said["error"]) == (422, "texts[1] is longer than the model reads")
        assert ask("en_de", {"texts": ["x"], "beam": 2, "nbest": 3})[0] == 422
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0


def refused(capsys, *words):
    assert main(["serve", *map(str, words)]) == 1
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.count("\n") == 1
    return written.err


def test_what_cannot_be_served_is_refused_before_models_are_loaded(bundles, capsys, monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("fairseq_plugins.service.server.load_model", never)
    one = bundles / "classes"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(capsys, one, "--port", port)
        taken = "Address already in use; --port 0 takes any that is free"
        assert told == f"error: --host 127.0.0.1 --port {port}: {taken}\n"
    assert "no such bundle or run" in refused(capsys, bundles / "none")
    assert "two models are called 'classes'" in refused(capsys, one, one)
    assert "cannot stand in an address" in refused(capsys, f"a b={one}")
    assert "is a bundle and" in refused(capsys, f"{one}:{bundles / 'classes-run'}")
    assert "--max-texts 64: must be at most --queue 9" in refused(capsys, one, "--queue", 9)
    assert "--workers 0: must be" in refused(capsys, one, "--workers", 0)
    assert "--port 99999" in refused(capsys, one, "--port", 99999)


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_missing_libraries_are_named(bundles, capsys, monkeypatch, missing):
    from fairseq_plugins.service import http

    real = http.find_spec
    monkeypatch.setattr(http, "find_spec", lambda name: None if name == missing else real(name))
    told = refused(capsys, bundles / "classes")
    way = "in a clone of the project, run pip install -e '.[web]'"
    assert told == f"error: {missing} not installed: {way}\n"


def test_a_run_that_translates_needs_a_bundle(bundles, capsys, monkeypatch):
    from fairseq_plugins.service import models

    monkeypatch.setattr(models, "task_of", lambda paths: "syntax_translation")
    assert "export makes a bundle of it" in refused(capsys, bundles / "classes-run")
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    assert main(["serve", str(bundles / "classes-run")]) == 1
    assert "is no bundle" in capsys.readouterr().err


def test_cards_are_read_from_the_bundle_alone(bundles, tmp_path):
    from fairseq_plugins.service.models import _card

    assert "toy" in _card(bundles / "classes")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "README.md").symlink_to(tmp_path / "secret")
    assert _card(tmp_path) is None


def test_a_second_signal_ends_at_once(tmp_path):
    code = """
import os, signal, socket, threading, time
from fairseq_plugins.service.http import until_told
class Server:
    should_exit = False
    def run(self, sockets):
        time.sleep(300)
def ready():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
until_told(Server(), None, ready)
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=LONG, check=False)
    assert done.returncode == 128 + signal.SIGTERM
