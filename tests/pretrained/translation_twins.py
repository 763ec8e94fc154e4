"""Directories of small random translation models, written by transformers."""

from __future__ import annotations

import io
import json
import random

import sentencepiece
import torch

WORDS = ("cat", "dog", "house", "run", "green", "blue", "see", "katze", "hund", "haus", "gruen")
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
CODES = {
    "m2m": ["__de__", "__en__", "__fr__"],
    "nllb": ["deu_Latn", "eng_Latn", "zho_Hans", "zho_Hant"],
    "nllb_legacy": ["deu_Latn", "eng_Latn", "zho_Hans", "zho_Hant"],
    "mbart50": ["de_DE", "en_XX", "fr_XX"],
    "mbart": ["de_DE", "en_XX", "fr_XX"],
}
SIZES = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 40, "dropout": 0.0,
    "attention_dropout": 0.0, "activation_dropout": 0.0, "max_position_embeddings": 64,
}  # fmt: skip


def sentences(count: int, seed: int = 1) -> list[str]:
    """Make sentences of a few words with endings."""
    draw = random.Random(seed)
    ends = ("", "s", "ed", "en")
    return [
        " ".join(draw.choice(WORDS) + draw.choice(ends) for _ in range(draw.randrange(1, 7)))
        for _ in range(count)
    ]


def pieces(path):
    """Write a sentencepiece model; return its pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(400)), model_writer=model, vocab_size=50,
        hard_vocab_limit=False, minloglevel=2, num_threads=1,
    )  # fmt: skip
    path.write_bytes(model.getvalue())
    made = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [made.id_to_piece(i) for i in range(len(made))]


def write_directory(kind, place):
    """Write a directory as transformers and the published ones have it; return its model."""
    import transformers

    place.mkdir(parents=True, exist_ok=True)
    known = [*SPECIALS, *pieces(place / "sentencepiece.bpe.model")[3:]]
    codes = CODES[kind]
    if kind == "m2m":
        (place / "vocab.json").write_text(json.dumps({one: i for i, one in enumerate(known)}))
    elif kind != "mbart":  # which has the sentencepiece model alone
        added = [{"id": len(known) + i, "content": one} for i, one in enumerate([*codes, "<mask>"])]
        vocabulary = {one: i for i, one in enumerate(known)}
        body = {"model": {"vocab": vocabulary}, "added_tokens": added}
        (place / "tokenizer.json").write_text(json.dumps(body))
    told = {"additional_special_tokens": codes}
    told |= {} if kind == "m2m" else {"mask_token": {"content": "<mask>"}}
    (place / "special_tokens_map.json").write_text(json.dumps(told))
    named = {"mbart50": "MBart50Tokenizer", "mbart": "MBartTokenizer", "m2m": "M2M100Tokenizer"}
    settings = {"tokenizer_class": named.get(kind, "NllbTokenizer")}
    settings |= {"legacy_behaviour": True} if kind == "nllb_legacy" else {}
    (place / "tokenizer_config.json").write_text(json.dumps(settings))
    size = len(known) + len(codes) + 3  # some rows are of no subword
    torch.manual_seed(5)
    if kind.startswith("mbart"):
        how = {"vocab_size": size, "scale_embedding": True, "activation_function": "gelu"}
        model = transformers.MBartForConditionalGeneration(transformers.MBartConfig(**SIZES, **how))
    else:
        model = transformers.M2M100ForConditionalGeneration(
            transformers.M2M100Config(**SIZES, vocab_size=size)
        )
    for parameter in model.parameters():  # transformers draws all biases as zero
        torch.nn.init.normal_(parameter, std=0.2)
    with torch.no_grad():
        model.model.shared.weight[1].zero_()
    model.save_pretrained(place)
    return model.eval()
