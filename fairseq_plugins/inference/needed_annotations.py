"""What raw text needs of a prepared folder's annotations, given what models read."""

from dataclasses import replace
from typing import Any

from ..data.folder_names import TOKENIZE
from ..data.manifest import CONLLU
from ..syntax.needs import Needs
from ..text.annotators import needs_annotator


def read_part(manifest: Any, needs: Needs) -> Any:
    """Return a manifest without annotations that the models' answers do not depend on.

    So no parser is needed if it changes nothing. A folder whose words come from given parses then
    splits raw text at blanks, if words change nothing either.
    """
    read = needs.reads(training=False)
    kept, cut = [name for name in manifest.annotations if name in read], manifest.tokenize
    given = manifest.annotator.get("name") == CONLLU and not manifest.annotator.get("model")
    if given and reads_subwords_alone(manifest, needs):
        cut = TOKENIZE[0]
    changes = {} if needs_annotator(kept, cut) else {"annotator": {}}
    return replace(manifest, annotations=kept, tokenize=cut, **changes)


def reads_subwords_alone(manifest: Any, needs: Needs) -> bool:
    """Return whether answers depend on the subwords of a text, and on nothing of its words."""
    return manifest.target_kind.pools and not (needs.reads(training=False) or needs.words)


def without_words(manifest: Any) -> Any:
    """Return a manifest of the same subwords whose words need no pipeline."""
    return replace(manifest, annotations=[], annotator={}, tokenize=TOKENIZE[0])
