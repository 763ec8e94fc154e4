"""From raw lines to translations: the part of ``syntax_translation`` without prepared splits.

fairseq's own commands and hub interface call these methods: lines become tokens with features, the
features follow fairseq's batches, and ids of translations become plain text.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Optional

import torch
from fairseq.data import LanguagePairDataset
from fairseq.sequence_scorer import SequenceScorer
from fairseq.tasks.translation import TranslationTask
from torch import Tensor

from ..data.dictionaries import token_ids
from ..data.factored_dictionary import FactoredDictionary
from ..data.factored_pair_dataset import Ablation, FactoredPairDataset
from ..data.pair_columns import FactorRows
from ..data.text_columns import SentenceColumns
from ..data.text_dictionary import Joined
from ..data.translation_manifest import TranslationManifest
from ..errors import InputError
from ..syntax.forms import Form
from ..syntax.layers import Layer
from ..text import unanswered
from ..text.beginnings import Beginnings, beginnings_of
from . import _generation, _target_factors, protected_spans, unanswered_rows
from ._begun import KEY as BEGUN
from ._begun import encoded as begun_with
from ._begun import respell, rows_of
from ._models_read import ModelsRead
from ._worker_processes import EpochWorkers
from .folder_warnings import Warnings

CUT = "--truncate-source (truncate_source=True) cuts such lines instead"


class RawTextTask(EpochWorkers, TranslationTask):
    """Translate raw text; a subclass opens the prepared folder and builds models."""

    cfg: Any
    # manifest, folders: of the data
    manifest: TranslationManifest
    folders: list[str]
    # source_layers, target_layers: of the data, in the order of their columns
    source_layers: list[Layer]
    target_layers: list[Layer]
    forms: dict[str, Form]  # of the sentences of source and target
    models: ModelsRead  # common facts of the models so far
    ablation: Optional[Ablation]  # removal of features, if any
    own_beginnings: Beginnings  # that ``--prefix`` gives
    _queue: _generation.FactorQueue
    _sentences: int
    _warnings: Warnings

    @cached_property
    def source_encoder(self) -> Any:
        """The encoder of raw source lines into subwords and features; made at first use."""
        if self.models.given:
            raise InputError(
                f"the model reads {', '.join(sorted(self.models.given))}, which raw text has not: "
                "prepare the text with its values, and translate the folder by fairseq-generate"
            )
        self.models.in_force.check_raw()
        encoder = self.build_source_encoder()
        self._warnings.other_annotator(self.models.trained_with, encoder.annotator_id, "the input")
        return encoder

    @cached_property
    def target_decoder(self) -> Any:
        """The decoder of target subwords into plain text; made at first use."""
        return self.build_target_decoder()

    def build_source_encoder(self) -> Any:
        """Load tokeniser, subwords and annotator of the data folder (takes seconds)."""
        from ..text.source_encoder import SourceEncoder

        return SourceEncoder.from_folder(Path(self.folders[0]), self.manifest, self.cfg.spacy_model)

    def build_target_decoder(self) -> Any:
        from ..text.source_encoder import TargetDecoder

        return TargetDecoder.from_folder(Path(self.folders[0]), self.manifest)

    def build_tokenizer(self, args: Any) -> Any:
        """Build ``--tokenizer``, or by default the data folder's own."""
        unanswered_rows.open_input(self.cfg)
        return super().build_tokenizer(args) or _generation.TargetText(
            lambda text: self.target_decoder.tokenize(text),
            lambda text: self.target_decoder.detokenize(text),
        )

    def build_bpe(self, args: Any) -> Any:
        """Build ``--bpe``, or by default the data folder's own."""
        return super().build_bpe(args) or _generation.TargetText(
            lambda text: self.target_decoder.add_subwords(text),
            lambda text: text if isinstance(text, Joined) else self._joined(text),
        )

    def _joined(self, text: str) -> str:
        return self.target_decoder.remove_subwords(text)

    def _plain_output(self, text: str) -> str:
        """Return plain text of subwords, or of tokens with ``--eval-bleu-remove-bpe``."""
        if self.cfg.eval_bleu_remove_bpe is None:
            text = self._joined(text)
        return self.target_decoder.detokenize(text)

    def restart_numbering(self, sentences: int = 0) -> None:
        """Restart the count of sentences (it seeds ``--ablation-mode shuffle``)."""
        self._sentences = sentences

    def get_interactive_tokens_and_lengths(
        self, lines: list[str], encode_fn: Any
    ) -> tuple[_generation.InferenceTokens, list[int]]:
        """Annotate and segment any raw lines like the data folder's.

        Empty lines, and too long lines without cutting, become rows of end marks alone, for which
        `inference_step` returns empty translations; the log names them. fairseq's own encoding,
        ``encode_fn``, has no features and is not used.

        Returns:
            Token ids with their features, and their lengths.
        """
        given = beginnings_of(self.own_beginnings, self._sentences + 1, len(lines))
        return self.read_lines(lines, given)

    def read_lines(
        self, lines: Sequence[str], beginnings: Beginnings
    ) -> tuple[_generation.InferenceTokens, list[int]]:
        """Return the tokens of raw lines whose translations have given beginnings."""
        self._warnings.segmented(lines)
        first, limit = self._sentences + 1, self.models.limit
        longest = int(self.manifest.options.get("max_characters", unanswered.LONGEST_LINE))
        read, whole = unanswered.taken(lines, first, longest, cut=self.cfg.truncate_source)
        tokens, factors, marks, protected, begun = [], [], [], [], []
        most = None if self.cfg.truncate_source else limit
        around = sum(self.forms["source"].sizes) - 1  # symbols beside the end mark
        encoded = self.source_encoder.encode(read, most)
        texts = beginnings_of(beginnings, 1, len(lines))
        for is_whole, sentence, text in zip(whole, encoded, texts, strict=True):
            ids, row = self._ids_and_factors(sentence)
            is_whole = is_whole and not sentence.left_out
            mark = unanswered.mark_of(len(ids) - around, limit - around, whole=is_whole)
            if mark:
                ids, row = [self.src_dict.eos()] * mark, row[-1:].repeat(mark, 1)
            marks.append(mark)
            tokens.append(torch.tensor(ids))
            protected.append((first + len(protected), sentence.protected))
            begun.append(begun_with(self, first + len(begun), text, sentence.protected))
            factors.append(row if self.ablation is None else self.ablation(row, self._sentences))
            self._sentences += 1
        unanswered.report(marks, first, f"{limit} subwords or {longest} characters", CUT)
        extras = {protected_spans.KEY: protected} if self.manifest.protect else {}
        extras |= {BEGUN: begun} if any(begun) else {}
        return _generation.InferenceTokens(tokens, factors, **extras), [len(t) for t in tokens]

    def _ids_and_factors(self, sentence: Any) -> tuple[list[int], Tensor]:
        """Return a sentence's S ids and its features (S, F), cut if requested.

        Without ``--truncate-source`` a too long sentence stays whole.
        """
        limit, form = self.models.limit if self.cfg.truncate_source else None, self.forms["source"]
        before, after = form.ids(self.src_dict)
        ids = token_ids(self.src_dict, sentence.tokens)[:-1]
        names = [layer.name for layer in self.source_layers]
        how = {"controls": self.models.in_force, "first_word": 1}
        columns = SentenceColumns.of([replace(sentence, tokens=ids)], names, **how)
        row = FactorRows(columns, self.source_layers, limit, form.sizes)[0]
        return [*before, *ids[: len(row) - sum(form.sizes)], *after], row

    def build_dataset_for_inference(
        self, src_tokens: Any, src_lengths: Any, constraints: Optional[Tensor] = None
    ) -> FactoredPairDataset:
        """Return a dataset from the result of `get_interactive_tokens_and_lengths`."""
        if not isinstance(src_tokens, _generation.InferenceTokens):
            raise InputError(
                "tokens alone carry no source features: hand raw text to "
                "get_interactive_tokens_and_lengths, or to translate() of the model"
            )
        self._queue.clear()
        how = {"tgt_dict": self.target_dictionary, "constraints": constraints}
        pairs = LanguagePairDataset(src_tokens, src_lengths, self.source_dictionary, **how)
        factors = src_tokens.factors if self.source_layers else None
        more: dict[str, Any] = {"observer": self._queue.put, "extras": src_tokens.extras}
        return FactoredPairDataset(pairs, factors, takes_all=True, **more)

    def inference_step(
        self, generator: Any, models: list[Any], sample: dict[str, Any], *more: Any, **how: Any
    ) -> Any:
        """Translate a batch; interactive batches get back the features that fairseq dropped.

        Unanswered rows (`unanswered_rows`) get empty translations.
        """
        net_input = sample["net_input"]
        bare = self.source_layers and "src_factors" not in net_input
        if bare or ("id" not in sample and self._queue):
            self._queue.give(sample, [protected_spans.KEY, BEGUN])
        if not more:
            given, begun = how.get("prefix_tokens"), sample.get(BEGUN, ())
            if given is None:
                given = rows_of(begun, net_input["src_tokens"], self.tgt_dict.pad())
            how["prefix_tokens"] = self._begun(net_input["src_tokens"], given)
        found = super().inference_step(generator, models, sample, *more, **how)
        is_scored = isinstance(generator, SequenceScorer)
        if not is_scored:
            found = unanswered_rows.without_answers(found, net_input["src_tokens"], self.src_dict)
            if self.models.predicted:
                _target_factors.add_factors(models, sample, found)
                names = [layer.name for layer in self.target_layers]
                columns = [names.index(name) for name in self.models.predicted]
                respell(found, sample.get(BEGUN, ()), columns, self.forms["target"].sizes[0])
        self._restore(sample, found, is_scored=is_scored)
        if protected_spans.KEY in sample:
            protected_spans.restore(sample, found, self.tgt_dict)
        return found

    def build_generator(self, models: Any, args: Any, *more: Any, **how: Any) -> Any:
        """Build fairseq's generator, which ends a translation with the last symbol of its form."""
        if not self.forms["target"].is_plain:
            last = self.tgt_dict.index(self.forms["target"].after[-1])
            how["extra_gen_cls_kwargs"] = {"eos": last, **(how.get("extra_gen_cls_kwargs") or {})}
        return super().build_generator(models, args, *more, **how)

    def _begun(self, src_tokens: Tensor, prefix: Optional[Tensor]) -> Optional[Tensor]:
        """Return given beginnings of translations (B, P) behind the first symbols of their form."""
        form = self.forms["target"]
        before, _ = form.ids(self.tgt_dict)
        if not before or (
            prefix is not None and prefix[:, : len(before)].tolist() == [before] * len(prefix)
        ):
            return prefix
        first = src_tokens.new_tensor(before).expand(len(src_tokens), -1)  # (B, P)
        return first if prefix is None else torch.cat((first, prefix), 1)

    def _restore(self, sample: dict[str, Any], found: Any, *, is_scored: bool) -> None:
        """Mark the ids of translations and references with the spelling of their subwords."""
        if not isinstance(self.tgt_dict, FactoredDictionary):
            return
        layer = self.tgt_dict.layer
        if "prev_output_factors" in sample["net_input"]:
            column = [one.name for one in self.target_layers].index(layer.name)
            _target_factors.restore_references(sample, self.tgt_dict, column)
        if is_scored:
            _target_factors.take_references(sample, found, self.tgt_dict.pad())
        elif layer.name in self.models.predicted:
            place = self.models.predicted.index(layer.name)
            _target_factors.restore(found, self.tgt_dict, place)
