#!/usr/bin/env python3
"""Measure where a tagger misses the ambiguous words, and rewrite ``grammar/lexicon/contexts.txt``.

Run it after the bundled pipeline has changed, then ``generate.py``. It needs fairseq_plugins.
"""

from __future__ import annotations

import argparse
from collections import Counter

from grammar.contexts import TABLE, is_hard, measure, write_contexts
from grammar.corpus import CorpusSampler
from tagging import tag_at_offsets


def main() -> None:
    """Draw sentences without regard to the table, tag them, write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spacy-model", default="bundled", help="pipeline (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=15000, help="how many to tag")
    parser.add_argument("--seed", type=int, default=2, help="seed (default: %(default)s)")
    parser.add_argument("--least", type=float, default=0.94, help="share of hits asked for")
    parser.add_argument("--few", type=int, default=5, help="pool contexts seen less often")
    args = parser.parse_args()
    sampler, half = CorpusSampler(args.seed, table={}), args.sentences // 2
    pairs = sampler.pairs(half, usual=True) + sampler.pairs(half, usual=False)
    seen, hit = Counter(), Counter()
    for pair, tags in zip(pairs, tag_at_offsets([p.english for p in pairs], args.spacy_model)):
        for item, context in zip(pair.ambiguous, pair.contexts):
            seen[context] += 1
            hit[context] += tags.get(item.start) == item.upos
    table = measure(seen, hit, least=args.least, few=args.few)
    write_contexts(table)
    share = sum(seen[item] for item in seen if is_hard(table, item)) / seen.total()
    print(f"{hit.total() / seen.total():.1%} of {seen.total()} words tagged as intended")
    print(f"{share:.1%} of the words stand in hard contexts; {len(table)} rows written to {TABLE}")


if __name__ == "__main__":
    main()
