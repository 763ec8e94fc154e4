"""A split of a prepared folder as a translation bundle takes it: ids and features, by fairseq."""

from pathlib import Path

from ..bundles.ctranslate2_model import Row
from ..bundles.translation import Translator
from ..syntax.layers import column_places
from ..tasks._warnings import Warnings
from ..tasks.syntax_translation import SyntaxTranslationConfig, SyntaxTranslationTask


def read_split(translator: Translator, data: str, split: str) -> list[tuple[str, Row, str]]:
    """Return plain source text, what is translated, and plain target text of all pairs, in order.

    Raises:
        FileNotFoundError: no such folder or split.
        ValueError: subwords or values of features are not those of the bundle.
    """
    how = {"train_subset": "train", "dataset_impl": None, "required_seq_len_multiple": 1}
    task = SyntaxTranslationTask.setup_task(SyntaxTranslationConfig(data=data, **how))
    check_fits(translator, task)
    task.load_dataset(split)
    places = column_places(task.source_layers)
    columns = [places[name][0] for name in translator.features]
    pairs = task.dataset(split)
    decoder = task.target_decoder
    found: list[tuple[str, Row, str]] = []
    for i in range(len(pairs)):
        item = pairs[i]
        factors = [item["factors"][:, column].tolist() for column in columns]
        source = task.source_dictionary.string(item["source"])
        target = task.target_dictionary.string(item["target"], escape_unk=True)
        plain = [decoder.detokenize(decoder.remove_subwords(text)) for text in (source, target)]
        found.append((plain[0], (item["source"].tolist(), factors), plain[1]))
    return found


def check_fits(translator: Translator, task: SyntaxTranslationTask) -> None:
    """Refuse a folder whose ids mean something else than a bundle's (ValueError)."""
    folder = Path(task.folders[0])
    sides = (task.source_dictionary, translator.source), (task.target_dictionary, translator.target)
    for dictionary, subwords in sides:
        if dictionary.symbols != subwords:
            raise ValueError(f"{folder} has other subwords than the bundle: prepare it with --like")
    held = {layer.name: layer for layer in task.source_layers}
    for layer in translator.layers:
        if layer.name not in held:
            raise ValueError(f"the model reads {layer.about}, which {folder} lacks")
        if held[layer.name].inventory.symbols != layer.inventory.symbols:
            raise ValueError(f"{folder} knows other values of {layer.name!r} than the bundle")
    if translator.layers and translator.manifest.annotator:
        trained = translator.manifest.annotator_id
        Warnings().other_annotator([trained], task.manifest.annotator_id, str(folder))
