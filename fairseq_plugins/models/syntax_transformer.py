"""``syntax_transformer``: fairseq's transformer whose encoder also reads source features.

Sundararaman et al. 2019, "Syntax-infused Transformer". The decoder, positions, scaling and dropout
are fairseq's; only the source embedding is ours (`nn.factors`), and the whole vector [e ; f] is
scaled by sqrt(D), as the word embedding alone is in fairseq. ``--encoder-attention`` adds local
attention to the encoder's layers (Li et al. 2020).
"""

import logging
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Optional

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerModel
from torch import Tensor, nn

from ..errors import InputError
from ..methods import options
from ..methods.options import NONE
from ..methods.plan import Plan
from ..nn.factors import FactoredEmbedding, FactorEmbedding, glorot_, init_table
from ..nn.starts import own_start
from ..pretrained.word_vectors import read_word_vectors
from ..syntax.layers import Layer, columns_of, digests
from ..syntax.needs import Needs
from . import _config
from ._decoder import FactoredDecoder
from ._encoder import SyntaxEncoder, plan_local
from ._plan import FactorPlan, plan_factors, plan_targets, resolve_features, warn_of_reduced
from ._trained import Start

WORD_WIDTH = "the width of words (under --feature-merge concat without that of the features)"

logger = logging.getLogger(__name__)


@register_model("syntax_transformer", dataclass=_config.SyntaxTransformerConfig)
class SyntaxTransformerModel(TransformerModel):
    """Transformer over words and their syntactic features."""

    takes_source_factors = True
    # options that name files; values in a checkpoint, which has all weights, are ignored
    opened = ("encoder_embed_path", "decoder_embed_path", "pretrained")
    before = _config.EncoderAttention.before  # values of missing options in older checkpoints
    resolve = staticmethod(_config.resolve)
    trained = Start.of
    needs = Needs()  # what it reads of a prepared folder

    @classmethod
    def add_args(cls, parser: Any) -> None:
        """Add the flat options without defaults, so that architectures can preset them."""
        gen_parser_from_dataclass(parser, _config.SyntaxTransformerConfig(), delete_default=True)

    @classmethod
    def complete_config(
        cls,
        cfg: Any,
        layers: Sequence[Layer],
        annotator: str,
        targets: Sequence[Layer] = (),
    ) -> Plan:
        """Write into ``cfg`` what the checkpoint must hold: sizes, features and their annotator.

        Args:
            layers, annotator: of the data folder.
            targets: its layers of target subwords.

        Returns:
            The plan of the model.
        """
        sizes, _ = plan_targets(getattr(cfg, "target_features", None), targets)
        columns = columns_of(layers)
        names = resolve_features(getattr(cfg, "features", None), [*columns])
        factors = ",".join(sizes) or NONE
        options.write(cfg, target_features=factors, features=",".join(names) or NONE)
        plan = cls.plan(cfg)
        plan.check_read({})
        annotated = annotator and plan.needs.reads(training=True)
        inventories = digests(columns[name] for name in names) or None
        plan.write(cfg, inventories=inventories, annotator=annotator if annotated else None)
        return plan

    @classmethod
    def plan(cls, cfg: Any) -> Plan:
        """Return the options, resolved in place, with their methods."""
        _config.resolve(cfg)
        return Plan.of(options.merged(cfg, _config.SyntaxTransformerConfig), _config.METHODS)

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "SyntaxTransformerModel":
        """Build the model for a task with feature inventories."""
        layers = getattr(task, "source_layers", None)
        if layers is None:
            raise InputError("syntax_transformer needs --task syntax_translation")
        plan = cls.plan(cfg)
        args = _config.as_namespace(plan.args)
        args.factor_plan = plan_factors(args, layers)
        args.local_plan = plan_local(plan[_config.EncoderAttention], layers)
        args.target_plan = plan_targets(args.target_features, task.target_layers)
        warn_of_reduced(task.target_layers, args.target_plan[0])
        _config.check_initialisation(args)
        if args.feature_merge == "concat" and args.factor_plan.names:
            # fairseq would load it into a table of full width.
            args.source_embed_path = getattr(args, "encoder_embed_path", None)
            args.encoder_embed_path = None
        model = super().build_model(args, task)
        model.needs = replace(plan.needs, features=args.factor_plan.names)
        if args.param_init == "glorot":
            glorot_(model)
        model.reset_factors(args)
        model.log_parameters()
        return model

    @classmethod
    def build_embedding(
        cls, cfg: Any, dictionary: Any, embed_dim: int, path: Optional[str] = None
    ) -> nn.Embedding:
        """Build a table of words, perhaps with given vectors; see `WordVectors`."""
        table = super().build_embedding(cfg, dictionary, embed_dim)
        if path:
            found = read_word_vectors(path, dictionary.symbols, embed_dim, called=WORD_WIDTH)
            rows = [dictionary.index(word) for word in found.words]
            table.weight.data[rows] = found.vectors
        return table

    @classmethod
    def build_encoder(cls, args: Any, src_dict: Any, embed_tokens: nn.Embedding) -> SyntaxEncoder:
        """Build the encoder; ``embed_tokens`` is fairseq's word table of full width."""
        plan: FactorPlan = args.factor_plan
        if plan.names:
            how = {"combine": args.feature_combine, "scale": args.feature_scale}
            with own_start("features"):
                if plan.word_dim != embed_tokens.embedding_dim:
                    embed_tokens = cls._narrow_words(args, src_dict, plan.word_dim)
                factors = FactorEmbedding(plan.sizes, plan.dims, columns=plan.columns, **how)
            joined = FactoredEmbedding(embed_tokens, factors, args.feature_merge)
            return SyntaxEncoder(args, src_dict, joined, args.local_plan)
        return SyntaxEncoder(args, src_dict, embed_tokens, args.local_plan)

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: nn.Embedding) -> Any:
        """Build fairseq's decoder, or a decoder that also predicts factors."""
        sizes, columns = args.target_plan
        if not sizes:
            return super().build_decoder(args, tgt_dict, embed_tokens)
        how = {"no_encoder_attn": args.no_cross_attention}
        return FactoredDecoder(args, tgt_dict, embed_tokens, (sizes, columns), **how)

    def get_target_factors(self, sample: dict[str, Any]) -> Tensor:
        """Return the predicted factors of a batch's target words, (B, T, K)."""
        found = sample["net_input"]["prev_output_factors"]
        return self.decoder.target_factors.chosen(found)

    def read_again(self, factors: Tensor) -> Tensor:
        """Return the factors with which `forward` reads a finished translation.

        Args:
            factors: of its T tokens with ``</s>`` last, (T, K).

        Returns:
            Factors of the words before, in the columns of the data folder, (1, T, columns).
        """
        columns = self.decoder.target_factors.columns
        found = factors.new_zeros(len(factors), max(columns) + 1)  # (T, columns)
        found[:, list(columns)] = factors.roll(1, 0)  # those of </s> come first
        return found[None]

    @classmethod
    def _narrow_words(cls, args: Any, src_dict: Any, width: int) -> nn.Embedding:
        if args.source_embed_path:
            return cls.build_embedding(args, src_dict, width, args.source_embed_path)
        words = nn.Embedding(len(src_dict), width, padding_idx=src_dict.pad())
        init_table(words, "normal", args.encoder.embed_dim**-0.5)
        return words

    def reset_factors(self, args: Namespace) -> None:
        """Initialise the feature tables by ``--feature-init``, else like the rest of the model."""
        if self.needs.features:
            fallback = "glorot" if args.param_init == "glorot" else "normal"
            how = str(getattr(args, "feature_init", fallback))
            self.encoder.embed_tokens.factors.reset_parameters(how, args.encoder_embed_dim**-0.5)

    def parameter_counts(self) -> dict[str, int]:
        """Count parameters: source words, features, gates, the whole model (shared ones once)."""
        table = self.encoder.embed_tokens
        words, factors = (table.words, table.factors) if self.needs.features else (table, None)
        counts = {"source words": words, "source features": factors, "model": self}
        gates = sum(p.numel() for name, p in self.named_parameters() if ".self_attn.gate." in name)
        return {"gates": gates} | {
            name: sum(p.numel() for p in part.parameters()) if part is not None else 0
            for name, part in counts.items()
        }

    def log_parameters(self) -> None:
        sizes = self.parameter_counts()
        if not self.encoder.local.rules:
            sizes.pop("gates")
        counts = ", ".join(f"{name} {count:,}" for name, count in sizes.items())
        logger.info("features: %s; parameters: %s", ",".join(self.needs.features) or NONE, counts)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        src_factors: Optional[Tensor] = None,
        prev_output_factors: Optional[Tensor] = None,
        return_all_hiddens: bool = True,
        **how: Any,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Run encoder and decoder, with the features (B, S, F) for the encoder.

        A decoder that predicts factors also gets those of the words before, (B, T, K).

        Returns:
            Scores (B, T, V) and fairseq's extras.
        """
        if self.needs.targets:
            how["prev_output_factors"] = prev_output_factors
        how |= {"src_lengths": src_lengths, "return_all_hiddens": return_all_hiddens}
        encoder_out = self.encoder(src_tokens, src_lengths, return_all_hiddens, None, src_factors)
        return self.decoder(prev_output_tokens, encoder_out=encoder_out, **how)

    @classmethod
    def from_pretrained(
        cls,
        model_name_or_path: str,
        checkpoint_file: str = "checkpoint_best.pt",
        data_name_or_path: Optional[str] = None,
        **kwargs: Any,
    ) -> Any:
        """Load a trained model for ``translate``; see `_hub.from_pretrained`."""
        from ._hub import from_pretrained

        return from_pretrained(model_name_or_path, checkpoint_file, data_name_or_path, **kwargs)


for _arch in _config.BODIES:
    if _arch != "syntax_transformer":  # registered with the model
        register_model_architecture("syntax_transformer", _arch)(_config.preset)
