"""Translations of sentences by this project's models, one way or as a round trip."""

from collections.abc import Sequence

import torch

from ..augment.seeded_random import random_for
from ..augment.translators import Translate, chain
from .text_checkpoints import find_checkpoints
from .translation_attention import load

BEAM = 4
LONGEST = {"max_len_a": 2, "max_len_b": 20}  # largest output for S source subwords: 2 S + 20


def load_translator(
    checkpoint: str,
    data: str = "",
    *,
    beam: int = BEAM,
    sampling: int = 0,
    seed: int = 1,
    cpu: bool = True,
) -> Translate:
    """Load a checkpoint for translation one way.

    Args:
        checkpoint: of a translation model of this project, or its run folder.
        data: its prepared folder (default: the training folder).
        beam: beam size.
        sampling: sample from this many most probable subwords; 0 for beam search.
        seed: of the samples, which depend only on the seed and the sentences.
        cpu: compute on the CPU even if there is a GPU.

    Returns:
        A function that maps sentences to as many translations.
    """
    (path,) = find_checkpoints([checkpoint])
    model = load(path, data or None)
    if torch.cuda.is_available() and not cpu:
        model = model.cuda()
    drawing = {"sampling": True, "sampling_topk": sampling} if sampling else {}
    beam = 1 if sampling else beam

    def translate(sentences: Sequence[str]) -> list[str]:
        with torch.random.fork_rng():
            torch.manual_seed(random_for(seed, *sentences).getrandbits(63))
            return model.translate(list(sentences), beam=beam, **LONGEST, **drawing)

    return translate


def there_and_back(forward: str, backward: str) -> Translate:
    """Load two checkpoints, the first for the way there, the second for the way back."""
    return chain(load_translator(forward), load_translator(backward))
