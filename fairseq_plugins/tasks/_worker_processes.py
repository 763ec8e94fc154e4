"""Processes that read batches end with their epoch."""

from typing import Any

from fairseq.tasks import FairseqTask


class EpochWorkers(FairseqTask):
    """Keep no processes for a next epoch.

    Our datasets have another iterator in every epoch, but fairseq has torch keep the processes of
    each; torch then waits five seconds for processes that nobody needs.
    """

    def get_batch_iterator(self, *args: Any, **kwargs: Any) -> Any:
        iterator = super().get_batch_iterator(*args, **kwargs)
        iterator.persistent_workers = False
        return iterator
