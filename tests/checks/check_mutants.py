#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps tests/mutation/parts fit to be run: every mutant is well-formed, is found by one name, and
still finds its place in the sources exactly once. `make mutants` tries them; this only looks."""

import sys

from checklib import ROOT, Rules

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/mutation"))
import mutants  # noqa: E402  (its folder is known only now)

READABLE = "files of mutants can be read"
NAMES = "names of mutants are unique in their part, and parts are known"
PLACES = "each mutant finds its place in the sources exactly once"
ENOUGH = f"there are at least {mutants.MUTANTS_AT_LEAST} mutants"


def main():
    rules = Rules()
    for rule in (READABLE, NAMES, PLACES, ENOUGH):
        rules.rule(rule)
    sources = mutants.Sources(ROOT)
    count = 0
    for path in sorted(mutants.PARTS_FOLDER.iterdir()):
        if path.stem not in mutants.PARTS or path.suffix != ".mutants":
            rules.broken(NAMES, f"{path.relative_to(ROOT)}: not one of {' '.join(mutants.PARTS)}")
            continue
        try:
            part = mutants.read_part(path)
        except mutants.Malformed as problem:
            rules.broken(READABLE, f"{path.relative_to(ROOT)}: {problem}")
            continue
        names = [mutant.name for mutant in part.mutants]
        for name in sorted({name for name in names if names.count(name) > 1}):
            rules.broken(NAMES, f"{path.relative_to(ROOT)}: {name} is there twice")
        for test in part.tests:
            if not mutants.find_test(test, ROOT):
                rules.broken(PLACES, f"{path.relative_to(ROOT)}: there is no test {test}; "
                                     "name the program that took its place")
        for mutant in part.mutants:
            for problem in mutants.problems_of(mutant, sources):
                rules.broken(PLACES, problem)
        count += len(names)
    if count < mutants.MUTANTS_AT_LEAST:
        rules.broken(ENOUGH, f"there are {count}")
    rules.finish()


if __name__ == "__main__":
    main()
