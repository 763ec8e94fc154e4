"""A split of a prepared folder, read by fairseq, as ids and features for a translation bundle."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..bundles.ctranslate2_model import Row
from ..bundles.translation import Translator
from ..errors import InputError
from ..syntax.layers import column_places
from ..tasks import protected_spans
from ..tasks.folder_warnings import Warnings
from ..tasks.syntax_translation import SyntaxTranslationConfig, SyntaxTranslationTask


def read_split(
    translator: Translator, data: str, split: str
) -> Iterator[tuple[str, Row, str, Any]]:
    """Yield what a split has of each pair, in order.

    Yields:
        Source text, source ids with features, target text, number with protected spans.
    """
    how = {"train_subset": "train", "dataset_impl": None, "required_seq_len_multiple": 1}
    task = SyntaxTranslationTask.setup_task(SyntaxTranslationConfig(data=data, **how))
    check_fits(translator, task)
    task.load_dataset(split, task_cfg=task.cfg)
    places = column_places(task.source_layers)
    columns = [places[name][0] for name in translator.features]
    pairs, limit = task.dataset(split), translator.model.layout.source.positions
    for number, length in enumerate(pairs.dataset.src_sizes, 1):
        if length > limit:
            raise InputError(f"{data}, {split}, line {number}: longer than {limit} subwords")
    return (_pair(task, pairs[i], columns, i + 1) for i in range(len(pairs)))


def _pair(
    task: Any, item: dict[str, Any], columns: Sequence[int], number: int
) -> tuple[str, Row, str, Any]:
    held, target = item.get(protected_spans.KEY, (number, ())), item["target"]
    if protected_spans.KEY in item:
        target = protected_spans.marked(target, task.target_dictionary, held[1])[0]
    factors = [item["factors"][:, column].tolist() for column in columns]
    source = task.source_dictionary.string(item["source"])
    target = task.target_dictionary.string(target, escape_unk=True)
    decoder = task.target_decoder
    plain = [decoder.detokenize(decoder.remove_subwords(text)) for text in (source, target)]
    return plain[0], (item["source"].tolist(), factors), plain[1], held


def check_fits(translator: Translator, task: SyntaxTranslationTask) -> None:
    """Refuse a folder whose ids differ in meaning from a bundle's."""
    folder = Path(task.folders[0])
    sides = (task.source_dictionary, translator.source), (task.target_dictionary, translator.target)
    for dictionary, subwords in sides:
        if dictionary.symbols != subwords:
            raise InputError(f"{folder} has other subwords than the bundle: prepare it with --like")
    held = {layer.name: layer for layer in task.source_layers}
    for layer in translator.layers:
        if layer.name not in held:
            raise InputError(f"the model reads {layer.about}, which {folder} lacks")
        if held[layer.name].inventory.symbols != layer.inventory.symbols:
            raise InputError(f"{folder} knows other values of {layer.name!r} than the bundle")
    if translator.layers and translator.manifest.annotator:
        trained = translator.manifest.annotator_id
        Warnings().other_annotator([trained], task.manifest.annotator_id, str(folder))
