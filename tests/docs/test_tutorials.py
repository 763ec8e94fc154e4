"""The tutorials and README.md: their blocks run in order, and print what is shown."""

from __future__ import annotations

import re

import pytest
from page_scripts import NOT_RUN, ROOT, blocks_of, not_printed, run_script, script_of

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = [page for page in TUTORIALS if page.stem != "index"]
IN_CI = ("translate", "deploy")  # they call most commands; `--all` runs every tutorial
NOISE = ("DEBUG:", "can_reuse_epoch_itr", "rebuild_batches", "creating new batches")
MOST_NOT_RUN = 3  # blocks of all tutorials that need what no test has

# README.md names data that its readers have; the test has them small, and trains small models
README_DATA = """
python - <<'PYTHON'
rows = ["A fine film.,5", "A dull film.,1"] * 20
for name in ("reviews.csv", "new.csv"):
    open(name, "w").write("\\n".join(["review,stars", *rows, ""]))
PYTHON
python examples/make_demo.py bertqa_squad SQUAD
echo 'Mara built the mill in Lund.' > article.txt
python examples/sample_en_de/generate.py --output corpus --train 60 --valid 10 --test 10
"""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            marks=pytest.mark.slow if page.stem in IN_CI else pytest.mark.long,
            id=page.stem,
        )
        for page in PAGES
    ],
)
def test_a_tutorial_runs_and_prints_what_it_shows(page, tmp_path) -> None:
    text = page.read_text(encoding="utf-8")
    output = run_script(script_of(text), tmp_path)
    assert not_printed(text, output) == [], output[-5000:]
    assert [noise for noise in NOISE if noise in output] == []


@pytest.mark.slow
def test_the_first_page_runs(tmp_path) -> None:
    script = script_of((ROOT / "README.md").read_text(encoding="utf-8"))
    short, trainings = re.subn(r"--max-update \d+", "--max-update 4", script)
    assert trainings == 3
    output = run_script(README_DATA + short, tmp_path)
    assert '"label"' in output
    assert "\nA: " in output
    assert (tmp_path / "bundles" / "mine").is_dir()


def test_tutorials_are_run_but_for_a_few_blocks_and_say_what_they_print() -> None:
    assert len(PAGES) == 9
    blocks = {page.stem: blocks_of(page.read_text(encoding="utf-8")) for page in PAGES}
    skipped = [one for found in blocks.values() for one in found if one.text.startswith(NOT_RUN)]
    assert len(skipped) <= MOST_NOT_RUN
    for name, found in blocks.items():
        assert sum(one.runs for one in found) >= 2, name
        assert any(one.language == "text" for one in found), name
        kinds = {one.language for one in found}
        assert kinds <= {"bash", "python", "text", "yaml", "diff"}, name


def test_the_index_names_every_tutorial() -> None:
    index = (ROOT / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert {*re.findall(r"\((\w+\.md)\)", index)} == {page.name for page in PAGES}


PAGE = """
```bash
name=Anna
bash scripts/setup.sh
```
```bash
name=Bruno; echo "loss 1.25 of $name"
```
```python
print("two", 1 + 1)
```
```bash
# not run by the tests: there is no such machine
exit 3
```
```text
loss 0.5 of …
two 2
```
"""


def test_blocks_are_run_in_order_as_one_script(tmp_path) -> None:
    output = run_script(script_of(PAGE), tmp_path)
    assert output == "loss 1.25 of Bruno\ntwo 2\n"
    assert not_printed(PAGE, output) == []


def test_what_is_not_printed_and_what_fails_is_noticed(tmp_path) -> None:
    assert not_printed(PAGE, "two 2\nloss 1.25 of Bruno\n") == ["two 2"]
    assert not_printed(PAGE, "loss 1.25 of Bruno\ntwo 3\n") == ["two 2"]
    assert not_printed(PAGE, "lost 1.25 of Bruno\ntwo 2\n") == ["loss 0.5 of …"]
    with pytest.raises(AssertionError, match="no such subcommand"):
        run_script(script_of("```bash\nfairseq-plugins gone\n```\n"), tmp_path)
