"""Damaged folders of all kinds: one clear refusal when they are opened or checked, nothing else."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import prepared
import prepared_questions
import prepared_text
import pytest
from preparations import KINDS as PREPARATIONS
from prepared_text import examples

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.products import with_products
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import sha256
from fairseq_plugins.prep.folder_check import check_folder
from fairseq_plugins.prep.shares import Share
from fairseq_plugins.prep.subset import write_subset
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.syntax.rows import HEADER, stream_layout

pytestmark = pytest.mark.slow

WORDS = ("pos", "heads")
REFUSALS = (ValueError, FileNotFoundError)
FLIPS = 3  # bytes of each file, one after another


def make_translation(folder: Path) -> None:
    pairs = prepared.random_pairs(12)
    prepared.prepare(folder, {"train": pairs, "valid": pairs[:5]}, parse=True)
    manifest = read_manifest(folder)
    manifest.options["max_characters"] = 1000
    manifest.save(folder)


def make_questions(folder: Path) -> None:
    passages = prepared_questions.passages
    splits = {"train": passages(6, 1), "valid": passages(3, 2)}
    prepared_questions.prepare(folder, splits, annotations=WORDS)


def make_texts(kind: str, *, pairs: bool = False) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        splits = {"train": examples(kind, 12, 1, pairs=pairs), "valid": examples(kind, 5, 2)}
        splits["valid"] = examples(kind, 5, 2, pairs=pairs)
        found = (*WORDS, "similarity") if pairs else WORDS
        prepared_text.prepare(folder, kind, splits, annotations=found)

    return make


KINDS = {
    "translation": make_translation,
    "classes of pairs": make_texts("classes", pairs=True),
    "score": make_texts("score"),
    "labels of words": make_texts("entities"),
    "questions": make_questions,
}


def seal(folder: Path) -> Path:
    """Write sizes and hashes of all files into the manifest, as preparations do."""
    with_products(folder, read_manifest(folder)).save(folder)
    return folder


def open_folder(folder: Path) -> None:
    """Set up the folder's task, and load a split with all that a model may read."""
    if any(folder.glob("*.en-de.*")):
        task = prepared.make_task(folder)
    else:
        questions = {"valid_subset": "valid"} if (folder / "misaligned.jsonl").exists() else {}
        task = prepared_text.make_task(folder, **questions)
        others = [name for name in ("heads", "similarity") if name in task.manifest.layers]
        task.inputs.needs = Needs(("pos", "case", "subword"), tuple(others), words=True)
    task.load_dataset("train")


@pytest.fixture(scope="module", params=KINDS)
def sound(request, tmp_path_factory) -> Path:
    """A folder of every kind in turn."""
    folder = tmp_path_factory.mktemp("sound") / "folder"
    KINDS[request.param](folder)
    return seal(folder)


@pytest.fixture(params=["with hashes", "of an older release"])
def folder(request, sound, tmp_path) -> Path:
    """A copy to be damaged; an older one knows nothing of its files."""
    copy = Path(shutil.copytree(sound, tmp_path / "copy"))
    if request.param != "with hashes":
        body = json.loads((copy / FILE_NAME).read_text())
        del body["products"]
        (copy / FILE_NAME).write_text(json.dumps(body))
    return copy


def is_sealed(folder: Path) -> bool:
    return "products" in json.loads((folder / FILE_NAME).read_text())


def products(folder: Path) -> list[Path]:
    """Return the files to be damaged: those of one split, and those of all."""
    found = read_manifest(folder).files(folder)
    return [path for path in found if not path.name.startswith("valid")]


def refusal(work: Callable[[Path], object], folder: Path) -> Exception | None:
    """Return how the folder is refused; any other exception is the test's failure."""
    try:
        work(folder)
    except REFUSALS as error:
        found = error
    else:
        return None
    assert str(found), repr(found)
    assert "\n" not in str(found), found
    return found


def test_sound_folders_open_and_are_told_what_they_carry(folder) -> None:
    open_folder(folder)
    told = check_folder(folder)
    assert ("as they were written" in told) == is_sealed(folder)
    assert ("holds no sizes and hashes" in told) != is_sealed(folder)


def test_files_that_are_missing_cut_off_or_too_long_are_refused(folder) -> None:
    for path in products(folder):
        content = path.read_bytes()
        for other in (content[:-1], content + b"x", content[: len(content) // 2], None):
            if other == content:
                continue
            path.unlink()
            if other is not None:
                path.write_bytes(other)
            opened, checked = refusal(open_folder, folder), refusal(check_folder, folder)
            if is_sealed(folder):
                for found in (opened, checked):
                    assert path.stem in str(found), (path.name, other)
            elif path.suffix in (".bin", ".idx"):
                assert opened, path.name
            path.write_bytes(content)
    open_folder(folder)


def test_a_flipped_byte_is_refused_where_hashes_are_asked_for_and_never_a_traceback(folder) -> None:
    rng, sealed = random.Random(5), is_sealed(folder)
    for path in [*products(folder), folder / FILE_NAME]:
        content = path.read_bytes()
        for place in rng.sample(range(len(content)), min(FLIPS, len(content))):
            changed = bytearray(content)
            changed[place] ^= 1 << rng.randrange(8)
            path.write_bytes(bytes(changed))
            refusal(open_folder, folder)
            found = refusal(check_folder, folder)
            assert found or not sealed or path.name == FILE_NAME, (path.name, place)
        path.write_bytes(content)


def test_swapped_streams_are_refused(folder) -> None:
    streams = [path.with_suffix("") for path in products(folder) if path.suffix == ".idx"]
    for one, other in zip(streams, streams[1:]):
        if all(same(one, other, ext) for ext in ("bin", "idx")):
            continue
        swap(one, other)
        opened, checked = refusal(open_folder, folder), refusal(check_folder, folder)
        assert checked or not is_sealed(folder), (one.name, other.name)
        if any(size(one, ext) != size(other, ext) for ext in ("bin", "idx")):
            assert opened or not is_sealed(folder), (one.name, other.name)
        swap(one, other)


def size(prefix: Path, ext: str) -> int:
    return Path(f"{prefix}.{ext}").stat().st_size


def same(one: Path, other: Path, ext: str) -> bool:
    return Path(f"{one}.{ext}").read_bytes() == Path(f"{other}.{ext}").read_bytes()


def swap(one: Path, other: Path) -> None:
    for ext in ("bin", "idx"):
        Path(f"{one}.{ext}").rename(f"{one}.swap")
        Path(f"{other}.{ext}").rename(f"{one}.{ext}")
        Path(f"{one}.swap").rename(f"{other}.{ext}")


SIGNED = {1: 2, 8: 3, 9: 4}  # number types of one width, unsigned -> signed


@pytest.mark.parametrize("negative", [False, True], ids=["too large", "negative"])
def test_ids_that_stand_for_nothing_are_refused(folder, negative) -> None:
    for path in products(folder):
        if path.suffix != ".bin" or (not negative and "similarity" in path.name):
            continue  # a byte is always a similarity
        prefix = path.with_suffix("")
        index, content = Path(f"{prefix}.idx"), path.read_bytes()
        described = index.read_bytes()
        ids = np.frombuffer(content, stream_layout(prefix)[1]).copy()
        ids[len(ids) // 2] = np.iinfo(ids.dtype).max
        path.write_bytes(ids.tobytes())
        if negative:  # all ones are -1
            mark, version, code, count = HEADER.unpack(described[: HEADER.size])
            changed = HEADER.pack(mark, version, SIGNED[code], count)
            index.write_bytes(changed + described[HEADER.size :])
        for work in (open_folder, check_folder):
            assert refusal(work, folder), (work, path.name)
        path.write_bytes(content)
        index.write_bytes(described)


def spoiled_pointers(pointers: np.ndarray, sizes: np.ndarray, how: str) -> None:
    if how == "another row":
        pointers[1] = pointers[0]
    elif how == "beyond the file":
        pointers[-1] = 2**40
    elif how == "negative":
        pointers[-1] = -8
    else:  # one row longer, the next shorter: the file is used up, its rows are others
        sizes[0], sizes[1] = sizes[0] + 1, sizes[1] - 1


@pytest.mark.parametrize("how", ["another row", "beyond the file", "negative", "longer rows"])
def test_indices_that_describe_other_rows_are_refused(folder, how) -> None:
    for path in products(folder):
        if path.suffix != ".idx":
            continue
        content = path.read_bytes()
        count = HEADER.unpack(content[: HEADER.size])[-1]
        sizes = np.frombuffer(content, "<i4", count, HEADER.size).copy()
        pointers = np.frombuffer(content, "<i8", count, HEADER.size + 4 * count).copy()
        spoiled_pointers(pointers, sizes, how)
        path.write_bytes(content[: HEADER.size] + sizes.tobytes() + pointers.tobytes())
        assert refusal(check_folder, folder), path.name
        opened = refusal(open_folder, folder)
        assert f"{path.name}, line " in str(opened), opened
        path.write_bytes(content)


def test_a_claim_of_more_rows_than_the_file_has_takes_no_memory(folder) -> None:
    path = next(path for path in products(folder) if path.suffix == ".idx")
    content = path.read_bytes()
    mark, version, code, _ = HEADER.unpack(content[: HEADER.size])
    path.write_bytes(HEADER.pack(mark, version, code, 2**60) + content[HEADER.size :])
    with pytest.raises(InputError, match="is no index of a stream, or not all of one"):
        open_folder(folder)


def test_subset_of_a_damaged_folder_is_refused_and_not_as_good_as_new(sound, tmp_path) -> None:
    copy = Path(shutil.copytree(sound, tmp_path / "copy"))
    path = next(path for path in products(copy) if path.name.startswith("train"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"other bytes than were written \(SHA-256\)"):
        write_subset(copy, tmp_path / "half", Share(0.5, 1))
    path.write_bytes(path.read_bytes()[:-1] + bytes([content[-1] ^ 1]))
    write_subset(copy, tmp_path / "half", Share(0.5, 1))
    assert "as they were written" in check_folder(tmp_path / "half")
    spoiled = next(path for path in products(tmp_path / "half") if path.name.startswith("train"))
    spoiled.write_bytes(spoiled.read_bytes()[:-1])
    write_subset(copy, tmp_path / "half", Share(0.5, 1))  # written again
    assert "as they were written" in check_folder(tmp_path / "half")


@pytest.mark.usefixtures("rule_tagger", "small_chunks", "rules_and_small_parts")
@pytest.mark.parametrize("name", ["translation", "text", "questions"])
def test_preparations_write_down_every_product_and_notice_a_cut_one(name, tmp_path) -> None:
    kind, raw, out = PREPARATIONS[name], tmp_path / "raw", tmp_path / "out"
    raw.mkdir()
    kind.write(raw)
    manifest = kind.prepare(raw, out)
    files = {path.name for path in out.iterdir()} - {FILE_NAME}
    assert manifest.products.keys() == files
    for path in manifest.files(out):
        content = {"size": path.stat().st_size, "sha256": sha256(path)}
        assert manifest.products[path.name] == content
    before = (out / FILE_NAME).read_bytes()
    path = max(manifest.files(out), key=lambda path: path.stat().st_size)
    path.write_bytes(path.read_bytes()[:-1])
    kind.prepare(raw, out)
    assert "as they were written" in check_folder(out)
    assert (out / FILE_NAME).read_bytes() == before
