"""Convert a file of semantic roles (CoNLL-2005, CoNLL-2012, BIO columns) to CoNLL-U.

    fairseq-plugins convert-roles --roles train.srl --output train.conllu --annotator bundled
    fairseq-plugins convert-roles --roles v4_gold_conll --word-column 4 --first-column 12 \\
        --columns-behind 1 --output train.conllu
    fairseq-plugins prepare text --dataset plain --train-file train.tsv --valid-fraction 0.1 \\
        --train-conllu train.conllu --layers given.srl1,given.srl2,given.srl3 --destdir data-bin/a

The file of roles has the sentences of all examples in the order of the examples; of a pair, the
first sentence comes before the second. --arch bert_sembert reads data prepared in this way.
"""

import argparse

from ..option_flags import add_flags
from ..prep.role_files import RoleFiles

READ = ("roles", "conllu")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_flags(parser, RoleFiles)


def run(args: argparse.Namespace) -> None:
    """Convert, and print the counts."""
    from ..prep.role_files import convert

    options = RoleFiles(**vars(args))
    counts, kept = convert(options), options.predicates
    print(
        f"{counts['sentences']:,} sentences, {counts['predicates']:,} predicates; "
        f"{counts['bare']:,} sentences without any\n"
        f"{counts['crowded']:,} sentences have more than {kept}: the first {kept} are kept, "
        f"{counts['left out']:,} predicates left out"
    )
