"""From the options of a BERT model to its attention: what it reads, and which layers do what."""

from collections.abc import Callable

from ..errors import InputError
from ..nn.ancestor_attention import SyntaxLayers
from ..nn.attention import GlobalMixer, SelfAttention
from ..nn.bert import BertShape
from ..nn.local_attention import Gate, LocalMixer
from ..nn.parent_attention import ParentSupervision
from ..nn.starts import own_start
from ..nn.tree_masks import OpenRule
from ..syntax.layers import OF_PAIRS, TREES
from ..syntax.needs import Needs
from .bert_options import BertOptions
from .control_options import controls_of, is_full
from .dual_options import dual_attention, dual_layers, similarity_layers
from .local_options import SEPARATE, names_trees, read_layers, read_rules
from .options import read_features
from .semantic_options import FLAG, semantic_layers


def needs_of(args: BertOptions) -> Needs:
    """Return what a model of resolved options reads.

    Raises:
        InputError: features or layers that do not fit; names the option and the choices.
    """
    rules = read_rules(args.local_attention, args)
    read_layers(args.local_layers, args.num_hidden_layers, "--local-layers")
    dual, similar = dual_layers(args), similarity_layers(args)
    read_trees = reads_trees(args)
    answering = any(rule.needs_heads for rule in rules)
    answering |= args.ancestor_layers > 0 and not is_full(args)
    taught = TREES if args.parent_loss_weight > 0 else ()  # supervised heads learn alone
    crossing = bool(dual) and args.difference_scope == "cross"
    layers = (*(TREES if answering else ()), *(OF_PAIRS if similar else ()))
    features, semantic = read_features(args.features), semantic_layers(args)
    return Needs(
        (*dict.fromkeys((*features, *semantic)),),
        layers,
        taught,
        words=bool(rules or layers or taught or semantic or args.ancestor_layers) or crossing,
        pairs=bool(dual or similar),
        controls=controls_of(args, features=(*features, *semantic), trees=read_trees),
        options={name: f"{FLAG} {args.semantic_layers}" for name in {*semantic} - {*features}},
    )


def reads_trees(args: BertOptions) -> bool:
    """Whether a model reads parse trees, or would but for ``--tree-source full``.

    Raises:
        InputError: that option for a model whose trees are no masks.
    """
    if is_full(args) and args.parent_loss_weight > 0:
        raise InputError(
            "--tree-source full: the loss of --parent-loss-weight has no mask; choices: "
            "shuffled, random, chain, or --parent-loss-weight 0"
        )
    return (
        names_trees(args.local_attention)
        or args.ancestor_layers > 0
        or (args.parent_loss_weight > 0)
    )


def attention(args: BertOptions, shape: BertShape) -> Callable[[int], SelfAttention]:
    """Return what makes the self-attention of a layer."""
    rules = read_rules(args.local_attention, args)
    local = read_layers(args.local_layers, shape.layers, "--local-layers") if rules else ()
    dual, similar = dual_layers(args), similarity_layers(args)

    def make(layer: int) -> SelfAttention:
        unread = layer in dual and args.ablate == "affinity"
        if layer in local and not unread:
            with own_start("gate"):
                gate = Gate(shape.hidden, len(rules), args.gate_bias_init)
            how = {"similar": layer in similar, "separate": args.local_dropout == SEPARATE}
            mixer = LocalMixer(rules, gate, shape.attention_dropout, layer, **how)
        else:
            mixer = GlobalMixer(shape.attention_dropout, layer in similar)
        return SelfAttention(
            shape.hidden,
            shape.heads,
            mixer,
            ParentSupervision() if args.parent_loss_weight > 0 else None,
            dual_attention(args, shape, layer) if layer in dual else None,
        )

    return make


def top(args: BertOptions, shape: BertShape) -> SyntaxLayers | None:
    """Return the syntax-guided layers on top, or None."""
    if not args.ancestor_layers:
        return None
    how = {"mask": args.ancestor_mask, "pairs": args.ancestor_pairs}
    how |= {"rule": OpenRule()} if is_full(args) else {}
    with own_start("top"):
        return SyntaxLayers(shape, args.ancestor_layers, **how, mix=args.ancestor_mix)


def reads_punctuation(args: BertOptions) -> bool:
    """Whether the attention must know which subwords are punctuation signs."""
    return any(rule.needs_punctuation for rule in read_rules(args.local_attention, args))
