"""Imported by the server of `commands` before it forks: hydra's grammar, which takes longer to warm
up than a small training takes, is warm in every run.
"""

from __future__ import annotations

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

_parser = options.get_training_parser()
_words = ["data", "--task", "translation", "--arch", "transformer_tiny"]
convert_namespace_to_omegaconf(options.parse_args_and_arch(_parser, _words))
