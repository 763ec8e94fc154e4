"""CTranslate2's folder of a bundle: what was written is opened, what was forged is refused."""

from __future__ import annotations

import json
import random
import shutil
import struct
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from fairseq_plugins.bundles.ctranslate2_model import (
    CONFIGURATION,
    END_ID,
    Model,
    Search,
    check_folder,
    token,
    write_model,
)
from fairseq_plugins.bundles.transformer_layout import Layout, Side
from fairseq_plugins.errors import InputError

SIDE = Side(24, 40, 2, 2, 16, 32, pre_norm=True, final_norm=True, scale=4.0)
OTHER = Side(16, 30, 1, 4, 8, 12, pre_norm=False, final_norm=False, scale=1.0)
PLAIN = Layout(replace(SIDE, width=8), OTHER, (), "relu", False, 8)
WIDE = Layout(SIDE, OTHER, (5, 7), "gelu", True, 12)
ROWS = [([5, 6, 7, END_ID], [[1, 2, 3, 1], [4, 5, 6, 1]]), ([9, END_ID], [[2, 1], [2, 1]])]


def written(folder: Path, layout: Layout, *, int8: bool = False) -> Path:
    dice = np.random.default_rng(0)
    weights = {name: dice.normal(size=shape) for name, shape in layout.shapes().items()}
    write_model(folder, layout, weights, int8=int8)
    return folder


@pytest.fixture(params=[False, True], ids=["float32", "int8"])
def forged(request, tmp_path):
    """A function that opens a folder after some change of its weights."""
    int8 = request.param
    folder = written(tmp_path / "good", WIDE, int8=int8)

    def forge(change) -> Model:
        shutil.rmtree(tmp_path / "bad", ignore_errors=True)
        shutil.copytree(folder, tmp_path / "bad")
        path = tmp_path / "bad" / "model.bin"
        path.write_bytes(change(path.read_bytes()))
        return Model(tmp_path / "bad", WIDE, int8=int8, threads=1)

    return forge


@pytest.mark.parametrize("layout", [PLAIN, WIDE], ids=["plain", "wide"])
@pytest.mark.parametrize("int8", [False, True])
def test_what_was_written_is_opened(tmp_path, layout, int8):
    rows = [(ids, factors[: len(layout.factors)]) for ids, factors in ROWS]
    model = Model(written(tmp_path / "m", layout, int8=int8), layout, int8=int8, threads=1)
    found = model.translate(rows, Search(beam=3, nbest=2, longest=7))
    assert [len(nbest) for nbest in found] == [2, 2]
    assert all(0 < len(ids) <= 7 for nbest in found for ids, _ in nbest)
    assert len(model.score(rows, [[4, 5], [4]])[0]) == 3
    with pytest.raises(InputError, match=r"model\.bin is no model of its bundle"):
        check_folder(tmp_path / "m", layout, int8=not int8)


def test_a_layout_survives_json():
    said = json.loads(json.dumps(asdict(WIDE)))
    assert Layout.of(said, "here") == WIDE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("source", {}),
        ("factors", [3, "x"]),
        ("factors", [True]),
        ("factors", [0]),
        ("factors", [2] * 101),
        ("activation", "swish"),
        ("output", 1 << 40),
        ("output", 12.0),
        ("source.layers", 10**9),
        ("source.heads", 3),
        ("source.heads", 0),
        ("source.scale", float("nan")),
        ("target.final_norm", True),
        ("target.pre_norm", 1),
        ("surplus", 1),
    ],
)
def test_impossible_layouts_are_refused(name, value):
    said = json.loads(json.dumps(asdict(WIDE)))
    *above, last = name.split(".")
    (said[above[0]] if above else said)[last] = value
    with pytest.raises(InputError, match="^here: "):
        Layout.of(said, "here")
    with pytest.raises(InputError, match="^here: "):
        Layout.of([said], "here")


def test_weights_of_other_shapes_are_not_written(tmp_path):
    weights = {name: np.zeros(shape) for name, shape in PLAIN.shapes().items()}
    with pytest.raises(InputError, match="do not fit"):
        write_model(tmp_path / "m", PLAIN, {**weights, "more": np.zeros(3)})
    weights["decoder/projection/weight"] = np.zeros((3, 3))
    with pytest.raises(InputError, match=r"decoder/projection/weight has shape \(3, 3\)"):
        write_model(tmp_path / "m", PLAIN, weights)
    assert not (tmp_path / "m").exists()


def test_truncated_weights_are_refused(forged):
    sizes = []
    forged(lambda raw: sizes.append(len(raw)) or raw)
    (size,) = sizes
    for cut in (0, 3, 10, 60, size // 3, size // 2, size - 300, size - 1):
        with pytest.raises(InputError, match="is no model of its bundle"):
            forged(lambda raw, cut=cut: raw[:cut])
    with pytest.raises(InputError, match="goes on behind its end"):
        forged(lambda raw: raw + b"\0")


def header_of(raw: bytes, name: str) -> int:
    """Return where the rank of a variable stands."""
    return raw.index(_string(name)) + len(name) + 3


def put(raw: bytes, place: int, kind: str, value: int) -> bytes:
    content = struct.pack(f"<{kind}", value)
    return raw[:place] + content + raw[place + len(content) :]


def shared(raw: bytes, name: str, other: str) -> bytes:
    """Let a number be the name of another one in place of its own."""
    begin, end = raw.index(_string(name)), header_of(raw, name) + 6
    end += struct.unpack_from("<I", raw, end - 4)[0]
    count_at = 4 + 2 + 16 + 4  # behind version, kind and revision
    count = struct.unpack_from("<I", raw, count_at)[0]
    place = count_at + 4
    for _ in range(count):
        place += 2 + struct.unpack_from("<H", raw, place)[0]
        place += 1 + 4 * raw[place] + 1
        place += 4 + struct.unpack_from("<I", raw, place)[0]
    aliases = struct.unpack_from("<I", raw, place)[0]
    cut = raw[:begin] + raw[end:place] + struct.pack("<I", aliases + 1) + raw[place + 4 :]
    return put(cut, count_at, "I", count - 1) + _string(name) + _string(other)


LIES = {
    "shared heads": lambda raw: shared(raw, "decoder/num_heads", "decoder/alignment_heads"),
    "shared norm": lambda raw: shared(raw, "encoder/embeddings_merge", "decoder/pre_norm"),
    "version": lambda raw: put(raw, 0, "I", 5),
    "revision": lambda raw: put(raw, 4 + 2 + 16, "I", 6),
    "count": lambda raw: put(raw, 4 + 2 + 16 + 4, "I", 1 << 31),
    "rank": lambda raw: put(raw, header_of(raw, "decoder/project_out/weight"), "B", 9),
    "rows": lambda raw: put(raw, header_of(raw, "decoder/project_out/weight") + 1, "I", 1 << 30),
    "transposed": lambda raw: put(
        put(raw, header_of(raw, "decoder/project_out/weight") + 1, "I", 8),
        *(header_of(raw, "decoder/project_out/weight") + 5, "I", 12),
    ),
    "type": lambda raw: put(raw, header_of(raw, "decoder/project_out/weight") + 9, "B", 3),
    "strange type": lambda raw: put(raw, header_of(raw, "decoder/project_out/weight") + 9, "B", 99),
    "size": lambda raw: put(raw, header_of(raw, "decoder/project_out/weight") + 10, "I", 1 << 31),
    "heads": lambda raw: put(raw, header_of(raw, "encoder/num_heads") + 6, "h", 5),
    "no heads": lambda raw: put(raw, header_of(raw, "encoder/num_heads") + 6, "h", 0),
    "merge": lambda raw: put(raw, header_of(raw, "encoder/embeddings_merge") + 6, "b", 0),
    "norm": lambda raw: put(raw, header_of(raw, "encoder/pre_norm") + 6, "b", 0),
    "name": lambda raw: raw.replace(b"encoder/layer_0/ffn/linear_0/bias", b"x" * 33),
    "twice": lambda raw: raw.replace(b"layer_1/ffn/linear_0/bias", b"layer_0/ffn/linear_0/bias"),
    "other kind": lambda raw: raw.replace(b"TransformerSpec", b"WhisperSpec\0\0\0\0"),
}


@pytest.mark.parametrize("lie", LIES)
def test_weights_that_lie_are_refused(forged, lie):
    with pytest.raises(InputError, match="is no model of its bundle"):
        forged(LIES[lie])


def test_any_byte_may_be_wrong(forged):
    """What is accepted all the same, such as another weight, translates."""
    dice = random.Random(1)
    accepted = 0
    for _ in range(60):
        place, bit = dice.random(), 1 << dice.randrange(8)

        def flip(raw, place=place, bit=bit):
            at = int(place * len(raw))
            return raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :]

        try:
            model = forged(flip)
        except ValueError:
            continue
        accepted += 1
        model.translate(ROWS, Search(longest=4))
    assert 0 < accepted < 60


@pytest.mark.parametrize("int8", [False, True])
def test_weights_that_are_no_numbers_are_refused(tmp_path, int8):
    dice = random.Random(12)
    path = written(tmp_path / "m", WIDE, int8=int8) / "model.bin"
    raw = path.read_bytes()
    scaled = {f"{name}_scale": shape[:1] for name, shape in WIDE.shapes().items() if int8}
    floats = {n: shape for n, shape in WIDE.shapes().items() if f"{n}_scale" not in scaled}
    floats |= {name: shape for name, shape in scaled.items() if _string(name) in raw}
    odd = [float("nan"), float("inf"), float("-inf")]
    for _ in range(60):
        name = dice.choice([name for name in floats if raw.count(_string(name)) == 1])
        place = header_of(raw, name) + 6 + 4 * len(floats[name])
        place += 4 * dice.randrange(int(np.prod(floats[name])))
        value = dice.choice([*odd, 0.0, 1e-40] if name.endswith("_scale") else odd)
        path.write_bytes(put(raw, place, "f", value))
        with pytest.raises(
            ValueError, match=f"model.bin is no model .* its '{name}' holds a value that"
        ):
            check_folder(path.parent, WIDE, int8=int8)
    path.write_bytes(raw)
    check_folder(path.parent, WIDE, int8=int8)


@pytest.mark.parametrize("other", ["decoder/layer_0/attention/linear_1/bias", "nothing", ""])
def test_aliases_are_checked(tmp_path, other):
    """Equal tables are kept once; what is called the same has to be as large, and there."""
    weights = {name: np.ones(shape) for name, shape in WIDE.shapes().items()}
    write_model(tmp_path / "m", WIDE, weights, int8=True)
    Model(tmp_path / "m", WIDE, int8=True, threads=1).translate(ROWS, Search(longest=3))
    path = tmp_path / "m" / "model.bin"
    raw = path.read_bytes()
    kept = _string("decoder/layer_0/attention/layer_norm/beta")
    assert raw.count(kept) > 1  # once itself, and for each of its aliases
    head, _, tail = raw.rpartition(kept)
    path.write_bytes(head + _string(other) + tail)
    with pytest.raises(InputError, match=r"is no model of its bundle: its .* cannot be its"):
        Model(tmp_path / "m", WIDE, int8=True)


def _string(text: str) -> bytes:
    return struct.pack("H", len(text) + 1) + text.encode() + b"\0"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", {"eos_token": "9"}),
        ("config.json", CONFIGURATION | {"add_source_bos": 0}),
        ("config.json", CONFIGURATION | {"multi_query_attention": 0.0}),
        ("config.json", []),
        ("config.json", None),
        ("target_vocabulary.json", ["a"]),
        ("target_vocabulary.json", [token(i) for i in range(17)]),
        ("source_2_vocabulary.json", [str(i) for i in range(500)]),
        ("source_1_vocabulary.json", None),
        ("shared_vocabulary.json", [token(i) for i in range(16)]),
        ("vmap.txt", "x"),
    ],
)
def test_texts_that_do_not_fit_are_refused(tmp_path, name, content):
    folder = written(tmp_path / "m", WIDE)
    if content is None:
        (folder / name).write_text("[" * 100_000)
    else:
        (folder / name).write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"{tmp_path}"):
        Model(folder, WIDE)
    (folder / name).unlink()
    if name.startswith(("config", "source", "target")):
        with pytest.raises(InputError, match=f"{name} should not be there, or is missing"):
            Model(folder, WIDE)


@pytest.mark.parametrize("how", [{"beam": 0}, {"nbest": 5}, {"max_tokens": 0}, {"longest": 0}])
def test_searches_that_cannot_be_are_refused(how):
    with pytest.raises(InputError, match=f"{next(iter(how))} is "):
        Search(**how)


def test_unknown_ways_to_compute_are_refused(tmp_path):
    folder = written(tmp_path / "m", PLAIN)
    with pytest.raises(InputError, match="CTranslate2 cannot read it"):
        Model(folder, PLAIN, compute_type="int3")
