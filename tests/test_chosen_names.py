"""A name on fairseq's command line that nothing has is refused, with those it is like."""

import subprocess

import pytest
from cli import shims

from fairseq_plugins.chosen_names import OPTIONS, check_chosen_names
from fairseq_plugins.errors import InputError
from fairseq_plugins.installation import __file__ as beside
from fairseq_plugins.registration import register

USER_DIR = beside.rpartition("/")[0]
RIGHT = {
    "arch": "bert_sla_minilm",
    "task": "text_classification",
    "criterion": "text_classification",
    "optimizer": "bert_adamw",
    "lr-scheduler": "linear_warmup",
}


@pytest.fixture(autouse=True)
def registered():
    register()


def line(user_dir: str = USER_DIR, **other: str) -> list[str]:
    chosen = {**RIGHT, **{name.replace("_", "-"): value for name, value in other.items()}}
    words = [word for name, value in chosen.items() for word in (f"--{name}", value)]
    return ["data", "--user-dir", user_dir, *words, "--lr", "1e-3", "--max-update", "9"]


@pytest.mark.parametrize("option", OPTIONS)
def test_a_mistyped_name_is_refused_with_the_right_one(option):
    wrong = RIGHT[option].replace("_", "", 1)
    with pytest.raises(InputError, match=f"^--{option} '{wrong}': .*{RIGHT[option]}"):
        check_chosen_names(line(**{option: wrong}))


def test_right_names_and_absent_ones_pass():
    check_chosen_names(line())
    check_chosen_names(["data", "--user-dir", USER_DIR])
    check_chosen_names(["data", "--user-dir", USER_DIR, "--arch"])  # argparse's to refuse


@pytest.mark.parametrize("words", [["-a", "bert_slaminilm"], ["--arch=bert_slaminilm"]])
def test_every_spelling_is_read(words):
    with pytest.raises(InputError, match="bert_sla_minilm"):
        check_chosen_names(["data", "--user-dir", f"{USER_DIR}/", *words])


def test_a_schedule_to_the_last_update_needs_the_number_of_updates():
    words = line()[:-2]
    with pytest.raises(InputError, match="linear_warmup .* give --max-update"):
        check_chosen_names(words)
    check_chosen_names([*words, "--total-num-update=9"])
    check_chosen_names(["data", "--user-dir", USER_DIR, "--lr-scheduler", "fixed"])


def test_other_folders_of_plugins_may_register_more(tmp_path):
    check_chosen_names(line(str(tmp_path), arch="one_of_theirs"))
    check_chosen_names(["data", "--arch", "one_of_theirs"])


def test_a_name_like_nothing_and_one_that_cannot_be_printed():
    with pytest.raises(InputError, match="nothing has this name$"):
        check_chosen_names(line(arch="0123456789"))
    with pytest.raises(InputError, match=r"\\x1b"):
        check_chosen_names(line(arch="\x1b[31m"))


@pytest.mark.parametrize(
    "words", [["--replace-unk"], ["--replace-unk=dict"], ["--replace-unk", "d"]]
)
def test_replacing_unknown_words_is_refused_where_no_raw_text_is(words, tmp_path):
    with pytest.raises(InputError, match=r"^--replace-unk does not go with --task syntax_tr\w+: "):
        check_chosen_names([*line(task="syntax_translation"), *words])
    check_chosen_names([*line(task="translation"), *words])
    check_chosen_names([*line(str(tmp_path), task="syntax_translation"), *words])


@pytest.mark.parametrize("first", ["tasks", "models", "optim", "criterions"])
def test_right_names_pass_whichever_room_is_imported_first(first):
    words = ["fairseq-train", *line()]
    code = (
        f"import sys, fairseq_cli.train; sys.argv = {words!r}; import fairseq_plugins.{first}\n"
        "from fairseq.models import ARCH_MODEL_REGISTRY as archs; assert 'bert_sla_minilm' in archs"
    )
    done = subprocess.run([shims.python(), "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_mistyped_name_ends_the_import():
    words = ["fairseq-train", *line(arch="bert_slaminilm")]
    code = f"import sys, fairseq_cli.train; sys.argv = {words!r}; import fairseq_plugins.tasks"
    done = subprocess.run([shims.python(), "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("error: --arch 'bert_slaminilm': ")
