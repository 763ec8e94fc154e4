"""Where the time of a piece of work goes: matrix products against everything else.

torch's profiler counts the processor's time of every operation without the operations inside it;
what no kind claims, Python and autograd themselves included, is the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from torch.profiler import ProfilerActivity, profile

# Kind of work -> names of torch operations, for --profile.
KINDS = {
    "matrix products": "mm addmm bmm baddbmm _scaled_dot_product_flash_attention_for_cpu "
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    "softmax": "_softmax _softmax_backward_data where isneginf all eq logical_or_ _safe_softmax",
    "dropout masks": "bernoulli_ random_ lt native_dropout native_dropout_backward",
    "activation": "gelu gelu_backward",
    "normalisation": "native_layer_norm native_layer_norm_backward",
    "embeddings": "embedding embedding_dense_backward index_select",
    "AdamW": "_fused_adamw_",
    "clipping": "linalg_vector_norm _foreach_norm _foreach_mul_ clamp stack reciprocal",
    "copies": "copy_ fill_ cat index_copy_ clone contiguous zero_",
    "other arithmetic": "mul mul_ add add_ sub div div_ sum addcmul_ tanh tanh_backward neg",
}


def shares(work: Callable[[], None]) -> dict[str, float]:
    """Do a piece of work once; return each kind's share of the processor's time."""
    kinds = {f"aten::{op}": kind for kind, ops in KINDS.items() for op in ops.split()}
    spent: Counter[str] = Counter()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()
    for event in profiler.key_averages():
        spent[kinds.get(event.key, "rest")] += event.self_cpu_time_total
    return {kind: spent[kind] / spent.total() for kind in [*KINDS, "rest"]}


def share_table(found: dict[str, dict[str, float]]) -> str:
    """Write the shares, one row a kind of work, one column a system and set of batches."""
    lines = [f"| share of the time | {' | '.join(found)} |", "|---|" + "---:|" * len(found)]
    for kind in [*KINDS, "rest"]:
        lines.append(f"| {kind} | {' | '.join(f'{part[kind]:.1%}' for part in found.values())} |")
    return "\n".join(lines)
