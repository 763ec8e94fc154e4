"""Three invented experiments, each folder as `run` leaves it; no training is behind any number.

papers      several systems, sizes, rates, seeds and datasets, as in the tables of the papers
shares      translation on shares of the data, with features of several kinds and widths
questions   answers to questions, an ensemble of three models, claims about them

A record maps each file to its content: an object (.json), objects (.jsonl) or lines (others).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from fairseq_plugins.targets.table import TARGETS

NUMBERS = "null eins zwei drei vier acht neun zehn elf sechs".split()
PLACES = "Lund Oslo Bern Graz Kiel Riga Rom Turin".split()
ADDED = {"sla": 258, "wla": 258, "pos": 6_144, "dabert": 132_000, "bertqa": 81_900}
COUNTS = {"classes": 30, "score": 30, "word_labels": 18, "spans": 24, "translation": 12}
PLAIN, WLA, SLA, POS, DABERT = (
    f"{name}_tiny" for name in ("bert_plain", "bert_wla", "bert_sla", "bert_pos", "dabert")
)
CLAIMS = """title: Do both sides help?
intro: Three models.
names: {bert_plain_tiny: BERT, c2q_q2c_tiny: Both sides, later: Later}
claims:
- title: Coattention
  claim: It helps.
  ran: Invented questions.
  comparisons:
  - {rows: rows.jsonl, baseline: bert_plain_tiny, title: All against BERT}
  - rows: rows.jsonl
    baseline: bertqa_tiny
    systems: [later, model1_tiny, bert_plain_tiny]
    title: Against BERTQA
    metric: exact
  - {rows: none.jsonl, baseline: bert_plain_tiny, title: Not run}
  limits: All else.
"""


class Part:
    """A dataset: its invented examples, and how hard each is."""

    def __init__(
        self,
        name: str,
        dataset: str,
        target: str,
        metric: str,
        tested: str = "",
        positive: str = "",
    ) -> None:
        self.name, self.dataset, self.target, self.metric = name, dataset, target, metric
        self.tested, self.positive, self.random = (
            tested,
            positive,
            random.Random(name.removesuffix("14")),
        )
        self.count = COUNTS[target]
        self.hard = [self.random.random() for _ in range(self.count)]
        self.gold = [self.draw() for _ in range(self.count)]

    def draw(self) -> Any:
        """Return a gold answer."""
        one = self.random
        if self.target == "classes":
            return one.choice("001111")
        if self.target == "score":
            return round(one.uniform(0, 5), 1)
        if self.target == "spans":
            return [one.choice(PLACES)] if one.random() < 0.7 else []
        if self.target == "translation":
            return " ".join(["das", "ist", *one.choices(NUMBERS, k=5), "."])
        entity = self.positive or one.choice(["B-PER", "B-LOC"])
        return one.sample([entity if one.random() < 0.7 else "O", "O", "O", "O"], 4)

    def answers(self, skill: float) -> list[Any]:
        """Return what a run says: the hard examples are wrong, and a little is luck."""
        said = [
            gold if hard + self.random.gauss(0, 0.12) < skill else self.draw()
            for hard, gold in zip(self.hard, self.gold)
        ]
        return [" ".join(one) for one in said] if self.target == "spans" else said

    def scored(self, said: Sequence[Any]) -> dict[str, float]:
        """Return the metrics of answers."""
        if self.target == "translation":
            bleu = BLEU(trg_lang="de").corpus_score(said, [self.gold]).score
            return {"bleu": bleu, "chrf": CHRF().corpus_score(said, [self.gold]).score}
        labels = ["0", "1"] if self.target == "classes" else [self.positive or "B-LOC"]
        found = TARGETS[self.target].score(self.gold, said, labels, self.positive)
        return {name: round(value, 6) for name, value in found.items()}

    def lines(self, said: Sequence[Any]) -> list[dict[str, Any]]:
        """Return answers as a file of predictions has them."""
        key = {"classes": "label", "score": "score", "spans": "answer"}.get(self.target, "labels")
        more: dict[str, Any] = {"words": "Mara sah gestern Rom".split()} if key == "labels" else {}
        rows = [
            {"id": str(n), key: one, "gold": self.gold[n], **more} for n, one in enumerate(said)
        ]
        for row in rows if self.dataset == "rte" else ():
            row["probabilities"] = {row[key]: 0.75, str(1 - int(row[key])): 0.25}
            row["texts"] = [f"Satz {row['id']}", "ein Rest"]
        return rows


class Experiment:
    """The files of an experiment, its rows, and what is known of it."""

    def __init__(self, name: str, parts: list[Part], tables: Sequence[str] = ()) -> None:
        self.name, self.parts = name, {part.name: part for part in parts}
        self.files: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        told = [{"name": one.name, "folder": one.name, "dataset": one.dataset} for one in parts]
        self.facts = {"name": name, "title": f"The {name}", "file": f"{name}.yaml", "parts": told}
        self.facts |= {"command": f"fairseq-plugins run {name}.yaml", "tables": tables, "runs": []}
        self.facts |= {"versions": {"python": "3.11.7", "torch": "2.13.0+cpu"}}

    def run(self, part: str, system: str, seed: int, skill: float, **given: Any) -> str:
        """Add a finished run; return its folder.

        Args:
            part, system, seed: which run.
            skill: share of the examples that it gets right, about.
            given: what differs from the usual: ``rate``, ``choice``, ``fraction``, ``arch``,
                ``options``, ``evaluated`` (whether it was), ``predicted``, and facts of its result.
        """
        of, rate, choice = self.parts[part], given.pop("rate", 2e-5), given.pop("choice", {})
        share, arch = given.pop("fraction", 1.0), given.pop("arch", system)
        options = given.pop("options", {}) | choice | {"arch": arch, "max-update": 40}
        tested = of.tested if given.pop("evaluated", True) else ""
        epochs, skill = 3 * (of.target != "translation"), skill + of.random.gauss(0, 0.03)
        length = "epochs3" if epochs else "updates40"
        place = [f"lr{rate:g}".replace("e-0", "e-"), length, *[f"fraction{share:g}"] * (share < 1)]
        place += [f"{name}{value}" for name, value in choice.items()]
        folder = f"{part}/{system}/{'-'.join(place)}/seed{seed}"
        whole, predicted = share == 1 and seed < 4, given.pop("predicted", True)
        best = {"loss": round(1.2 - skill / 2, 4)}
        best |= self._predict(of, folder, "valid", skill, predicted)
        other = self._predict(of, folder, tested, skill - 0.05, whole) if tested else {}
        gates = {str(layer): round(0.3 + skill / 3 + layer / 10, 3) for layer in (0, 1)}
        row = {"schema": 1, "experiment": self.name, "part": part, "dataset": of.dataset}
        row |= {"system": system, "arch": arch, "learning_rate": rate, "epochs": epochs}
        row |= {"updates": 40, "share": share, "choice": choice, "seed": seed, "options": options}
        row |= {"status": "finished", "metric": of.metric, "positive": of.positive}
        row |= {"metrics": {"valid": best} | ({tested: other} if tested else {})}
        row |= {"last": {name: round(value * 0.98, 6) for name, value in best.items()}}
        row |= {"command": f"fairseq-train data/{part} --arch {arch} --seed {seed}"}
        more = next((more for name, more in ADDED.items() if name in arch), 0)
        row |= {"parameters": (109_480_000 if "base" in arch else 4_370_000) + more}
        row |= {"data": "77" if of.target == "spans" else "5a3e"}
        row |= {"gates": gates if "sla" in arch else {}, "prepared": f"data/{part}-{share:g}"}
        row |= {"examples": round(2000 * share) if of.target == "translation" else 0}
        row |= {"trained": f"{system} {choice}", "folder": folder}
        self.rows.append(row | {"made_of": {"train": "d4f9ff", "words": "whitespace"}, **given})
        self.files[f"{folder}/result.json"] = {}
        if seed == 1 and of.target != "spans":
            self.files[f"{folder}/train.log"] = log(of.metric, best, 40)
        self.facts["runs"].append({"folder": folder, "updates": 40})
        return folder

    def _predict(
        self, of: Part, folder: str, split: str, skill: float, kept: bool
    ) -> dict[str, float]:
        """Write what a run says of a split; return its metrics."""
        if of.target == "translation" and split == "valid":
            return {}
        said = of.answers(skill)
        found, own = of.scored(said), {}
        if of.target == "translation":
            lines = []
            for n, (gold, one) in enumerate(zip(of.gold, said)):
                lines += [f"S-{n}\tthis is {n}", f"T-{n}\t{gold}", f"D-{n}\t-0.5\t{one}"]
            own["generate.test.log"] = [*lines, f"Translated {of.count} sentences"]
            own["score.test.json"] = {"language": "de", "reference": f"{self.name}/test.de"}
            self.files["test.de"] = of.gold
        else:
            own["predictions.jsonl" if split == "valid" else "evaluation.jsonl"] = of.lines(said)
        self.files |= {f"{folder}/{name}": lines for name, lines in own.items() if kept}
        tuned = {"tuned_exact": 1.02, "tuned_f1": 1.02} if of.target == "spans" else {}
        return found | {name: round(found[name[6:]] * more, 6) for name, more in tuned.items()}

    def began(self, part: str, system: str, seed: int, error: str = "") -> None:
        """Add a run that failed, or that is still under way."""
        of, folder = self.parts[part], f"{part}/{system}/lr2e-5-epochs3/seed{seed}"
        row = {"schema": 1, "experiment": self.name, "part": part, "dataset": of.dataset}
        row |= {"system": system, "learning_rate": 2e-5, "epochs": 3, "updates": 40, "seed": seed}
        row |= {"metric": of.metric, "data": "5a3e", "status": "failed", "error": error}
        self.files[f"{folder}/train.log"] = log(of.metric, {of.metric: 0.3, "loss": 0.9}, 20)
        self.files[f"{folder}/command.txt"] = [f"fairseq-train data/{part} --seed {seed}"]
        self.facts["runs"].append({"folder": folder, "updates": 40})
        self.rows += [row | {"folder": folder}] if error else []

    def record(self) -> dict[str, Any]:
        """Return all files."""
        whole = {"experiment.json": self.facts, "rows.jsonl": self.rows, **self.files}
        return {f"{self.name}/{path}": content for path, content in whole.items()}


def log(metric: str, best: dict[str, float], updates: int) -> list[str]:
    """Return the lines of a training log that are read again."""
    lines = ["INFO | fairseq_cli.train | num. shared model params: 4,370,053 (num. trained: 1)"]
    for at, part in ((updates // 2, 0.5), (updates, 1)):
        inner = {"epoch": 1, "loss": f"{part * 0.8:.3f}", "num_updates": str(at)}
        valid = {f"valid_{name}": str(part * best[name]) for name in (metric, "loss")}
        valid["valid_num_updates"] = str(at)
        lines.append(f"INFO | train_inner | {json.dumps(inner)}")
        lines.append(f"INFO | valid | {json.dumps(valid)}")
    return lines


def papers() -> dict[str, Any]:
    """Return the files of the papers' layouts."""
    made = Experiment(
        "papers",
        [
            Part("cola", "cola", "classes", "mcc", positive="1"),
            Part("sst2", "sst2", "classes", "accuracy"),
            Part("ner", "conll2003", "word_labels", "entity_f1", "test"),
            Part("fce", "fce", "word_labels", "token_f0.5", "test", "i"),
            Part("rte", "rte", "classes", "accuracy"),
            Part("sts", "sts_b", "score", "pearson"),
            Part("wnut", "wnut17", "word_labels", "entity_f1", "test"),
            Part("own", "mine", "classes", "macro_f1"),
            Part("joint", "tokens", "word_labels", "entity_f1"),
        ],
    )
    for seed in (1, 2, 3):
        for system, skill in {PLAIN: 0.3, WLA: 0.4, SLA: 0.95}.items():
            made.run("cola", system, seed, skill)
            made.run("sst2", system, seed, skill + 0.05)
        made.run("cola", PLAIN, seed, 0.2, rate=5e-5)
        made.run("cola", SLA, seed, 0.5, choice={"tree-threshold": 2})
    made.run("cola", PLAIN, 4, 0.4, predicted=False)
    for seed in (1, 2):
        for system, skill in {PLAIN: 0.5, SLA: 0.7}.items():
            made.run("ner", system, seed, skill)
            made.run("fce", system, seed, skill + 0.1)
            made.run("own", system, seed, skill, note="Invented text.")
            made.run("joint", system.split("_")[1], seed, skill, arch=PLAIN)
        for system, skill in {PLAIN: 0.2, POS: 0.3, DABERT: 0.8, "mine": 0.5}.items():
            made.run("rte", system, seed, skill, arch=PLAIN if system == "mine" else system)
            _ = system in (PLAIN, DABERT) and made.run("sts", system, seed, skill)
        ablated = {"arch": DABERT, "options": {"ablate": "affinity"}}
        made.run("rte", "dabert_tiny-ablate-affinity", seed, 0.4, **ablated)
    made.run("sst2", "bert_plain_base", 1, 0.6)
    made.run("sst2", "bert_sla_base", 1, 0.7)
    made.run("wnut", PLAIN, 1, 0.6, parameters=4_370_053)
    made.run("wnut", SLA, 1, 0.8, evaluated=False)
    made.run("own", WLA, 1, 0.5, trial="smoke")
    made.began("own", WLA, 2)
    made.began("own", WLA, 3, "exit status 1\nRuntimeError: out of memory")
    last = "own/bert_wla_tiny/lr2e-5-epochs3/seed4"
    made.facts["runs"].append({"folder": last, "updates": 40})
    return made.record()


def shares() -> dict[str, Any]:
    """Return the files of an experiment of translation."""
    tables = ["fractions", "features", "feature_dims", "settings"]
    made = Experiment(
        "shares", [Part("wmt14", "translation", "translation", "loss", "test")], tables
    )
    own, all_three = {"arch": "syntax_transformer_tiny", "rate": 1e-3}, "pos,case,subword"
    ways = [{"feature-embed-dim": 8, "feature-combine": "concat"}]
    ways += [{"feature-embed-dim": 20, "feature-combine": "sum"}]
    for share, skill in {0.01: 0.1, 0.1: 0.3, 1.0: 0.5}.items():
        for seed in (1, 2) if share < 1 else (1,):
            given: dict[str, Any] = {**own, "fraction": share}
            made.run("wmt14", "baseline", seed, skill, options={"features": "none"}, **given)
            for choice in ways if share == 1 else [{}]:
                given |= {"choice": choice, "options": {"features": all_three}}
                made.run("wmt14", "syntax", seed, skill + 0.1 + 0.05 * len(choice), **given)
    for seed in (1, 2):
        made.run("wmt14", "pos", seed, 0.45, options={"features": "pos"}, **own)
    return made.record()


def questions() -> dict[str, Any]:
    """Return the files of an experiment of question answering."""
    made = Experiment("questions", [Part("squad", "squad", "spans", "f1")])
    of, ours = made.parts["squad"], {"arch": "bertqa_literal_tiny", "rate": 1.5e-5}
    for seed in (1, 2, 3):
        made.run("squad", PLAIN, seed, 0.4)
        made.run("squad", "c2q_q2c_tiny", seed, 0.7, **ours, options={"coattention": "query"})
        made.run("squad", "bertqa_tiny", seed, 0.6)
    members, ways = [], {"batch-size": 2, "update-freq": 3}
    for number, more in enumerate(({}, {"span-lstm": "none"}, {"coattention-blocks": 5}), start=1):
        given = {**ours, "options": ways | more}
        folder = made.run("squad", f"model{number}_tiny", 1, 0.5 + number / 20, **given)
        members.append(f"questions/{folder}/checkpoint_best.pt")
    together = {"exact": 80.0, "f1": 83.5, "HasAns_f1": 81.0, "NoAns_f1": 85.0, "best_f1": 84.0}
    together |= {"best_exact": 80.5, "of": "valid of data/squad", "ensemble": "paper"}
    made.files["after/together/metrics.json"] = together | {"checkpoints": members}
    words, text = "what who how when which where why whether".split(), " ".join(PLACES)
    asked: list[dict[str, Any]] = [
        {"id": str(n), "question": f"{words[n % 8].capitalize()} is {n}?"}
        | {"answers": [{"text": one, "answer_start": text.index(one)} for one in gold]}
        | {"is_impossible": not gold}
        for n, gold in enumerate(of.gold)
    ]
    article = {"title": "x", "paragraphs": [{"context": text, "qas": asked}]}
    made.files["dev.json"] = {"version": "v2.0", "data": [article]}
    for system, skill in {"plain": 0.4, "ours": 0.8}.items():
        made.files[f"{system}.json"] = dict(zip(map(str, range(of.count)), of.answers(skill)))
    made.files["after/gates/words.md"] = ["| word | share |", "|---|---:|", "| dog | 9.5 |"]
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    made.files |= {"after/gates/gates.svg": [svg], "after/gates/gates.csv": ["not,shown"]}
    made.files["claims.yaml"] = CLAIMS.splitlines()
    return made.record()


def unpack(record: dict[str, Any], place: Path) -> None:
    """Write the files of an experiment below a folder."""
    for path, content in record.items():
        lines = content if not path.endswith(".jsonl") else map(json.dumps, content)
        text = json.dumps(content) if path.endswith(".json") else "\n".join([*lines, ""])
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")


EXPERIMENTS = {"papers": papers, "shares": shares, "questions": questions}
