"""The speed benchmark reads prepared folders of parallel text; what it finds is no matter here."""

from __future__ import annotations

import pytest

from benchmarks.gpu.figures import read
from benchmarks.speed import __main__ as command


@pytest.mark.long
def test_translation_is_measured_on_a_prepared_folder(folder, tmp_path):
    output = tmp_path / "figures.jsonl"
    words = f"translation generation --tiny --max-tokens 500 --device cpu --output {output}"
    command.main([*words.split(), "--batches", str(folder)])
    assert ["random" in line["what"] for line in read(output)] == [False, False]
