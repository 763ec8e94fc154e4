"""A pretrained vocabulary keeps its ids and its bytes in fairseq's dictionary."""

from __future__ import annotations

import io
import pickle

import pytest
import torch
from fairseq.data import Dictionary
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.data.dictionaries import ClosedDictionary
from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained.vocabulary import Vocabulary

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = {
    "uncased": ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##s", "é"],
    "cased": ["[PAD]", "The", "the", "##S", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
    "chinese": ["[PAD]", "我", "[UNK]", "[CLS]", "[SEP]", "##京", "，", "[MASK]"],
    "no mask, other order": ["[SEP]", "x", "[CLS]", "[UNK]", "[PAD]"],
}


def write(path, pieces, end="\n"):
    path.write_bytes(("\n".join(pieces) + end).encode())
    return path


@pytest.mark.parametrize("kind", PIECES)
@pytest.mark.parametrize("end", ["\n", ""])
def test_dictionary_keeps_ids_and_bytes(kind, end, tmp_path) -> None:
    path = write(tmp_path / "vocab.txt", PIECES[kind], end)
    dictionary = ClosedDictionary.load(str(path))
    assert [dictionary.index(piece) for piece in PIECES[kind]] == list(range(len(PIECES[kind])))
    assert [dictionary[i] for i in range(len(dictionary))] == PIECES[kind]
    assert dictionary.bos() == PIECES[kind].index("[CLS]")
    assert dictionary.eos() == PIECES[kind].index("[SEP]")
    assert dictionary.pad() == PIECES[kind].index("[PAD]")
    assert dictionary.unk() == dictionary.index("never seen") == PIECES[kind].index("[UNK]")
    has_mask = "[MASK]" in PIECES[kind]
    assert dictionary.mask_index == (PIECES[kind].index("[MASK]") if has_mask else None)
    dictionary.save(str(tmp_path / "again" / "vocab.txt"))
    assert (tmp_path / "again" / "vocab.txt").read_bytes() == path.read_bytes()
    assert [p.name for p in (tmp_path / "again").iterdir()] == ["vocab.txt"]


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), min_size=1)),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_wordpieces_keep_their_lines(pieces, newline) -> None:
    pieces = list(dict.fromkeys([*pieces, *SPECIALS]))
    content = "".join(piece + newline for piece in pieces).encode()
    dictionary = ClosedDictionary(Vocabulary(content))
    assert [dictionary.index(piece) for piece in pieces] == list(range(len(pieces)))
    assert len(dictionary) == len(pieces)
    written = io.StringIO()
    dictionary.save(written)
    assert written.getvalue().encode() == content


def test_a_repeated_wordpiece_has_its_last_id_as_in_transformers() -> None:
    dictionary = ClosedDictionary(Vocabulary("\n".join([*SPECIALS, "a", "b", "a"]).encode()))
    assert (len(dictionary), dictionary.index("a"), dictionary[5]) == (8, 7, "a")


@pytest.fixture
def dictionary() -> ClosedDictionary:
    return ClosedDictionary(Vocabulary("\n".join(PIECES["uncased"]).encode()))


def test_dictionary_is_closed(dictionary) -> None:
    size = len(dictionary)
    assert dictionary.add_symbol("the") == dictionary.index("the")
    with pytest.raises(InputError, match="closed: cannot add 'new'"):
        dictionary.add_symbol("new")
    with pytest.raises(InputError, match="closed"):
        dictionary.add_symbol("the", overwrite=True)
    with pytest.raises(InputError, match="closed: cannot add '<s>'"):
        dictionary.update(Dictionary())
    dictionary.finalize(padding_factor=8)
    dictionary.pad_to_multiple_(8)
    ids = dictionary.encode_line("the new ##s")  # fairseq's default would add "new"
    assert ids.tolist() == [6, 2, 7, 4]
    assert (len(dictionary), dictionary.symbols) == (size, PIECES["uncased"])


def test_dictionary_serves_fairseq(dictionary) -> None:
    again = pickle.loads(pickle.dumps(dictionary))
    assert again == dictionary
    assert again.nspecial == 0
    assert again.string(torch.tensor([3, 6, 7, 4])) == "the ##s"
    assert again.dummy_sentence(5)[-1] == again.eos()


def test_files_that_are_no_vocabulary_are_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.txt: no such vocabulary"):
        ClosedDictionary.load(tmp_path / "nowhere.txt")
    path = write(tmp_path / "v.txt", ["[PAD]", "[UNK]", "a"])
    with pytest.raises(InputError, match=r"v.txt is no vocabulary of bert: it lacks \[CLS\], "):
        ClosedDictionary.load(path)
    path.write_bytes(b"[PAD]\n\xff\n")
    with pytest.raises(InputError, match="v.txt:2: .* not valid UTF-8"):
        ClosedDictionary.load(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="lacks"):
        ClosedDictionary.load(path)
