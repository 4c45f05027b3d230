#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what each hot path executes, below callgrind, and compares with bench/gate/budget.json.

It sees what no clock sees on a busy machine: one instruction more. That it does is tried here too,
with a counter that is worse on purpose.
"""

import copy
import sys

from checklib import ROOT, Rules, skip, temporary_folder

sys.path.insert(0, str(ROOT / "bench/gate"))
import budget as gate  # noqa: E402 (found only now)

KEPT = "each path takes what bench/gate/budget.json says"
INSTRUCTION = "one instruction more on a counter's way is found"
LOCK = "a locked addition on a counter's way is found"
PATHS = "a path without a budget is found, and a budget without a path"
BETTER = "a path that takes less than its budget is found"
WATCHED = "counter/inc"


def found_in(sentences, *words):
    return any(all(word in sentence for word in words) for sentence in sentences)


def check_worse(rules, folder, own, switch, rule, column):
    """The program built with the switch must be found out by this column."""
    counted = gate.run(gate.build(folder, switch), only=WATCHED)
    worse, _ = gate.compare({WATCHED: own[WATCHED]}, {WATCHED: counted[WATCHED]})
    if not found_in(worse, WATCHED + ": " + column):
        rules.broken(rule, f"with {switch} it says {worse}")


def check_comparison(rules, own):
    more, fewer, slower = copy.deepcopy(own), copy.deepcopy(own), copy.deepcopy(own)
    more["nothing/at-all"] = own[WATCHED]
    del fewer[WATCHED]
    slower[WATCHED][0] += 1
    if not found_in(gate.compare(more, own)[0], "nothing/at-all", "no such path"):
        rules.broken(PATHS, "a budget without a path is not")
    if not found_in(gate.compare(fewer, own)[0], WATCHED, "has no budget"):
        rules.broken(PATHS, "a path without a budget is not")
    worse, better = gate.compare(slower, own)
    if worse or not found_in(better, WATCHED, "instructions", "make budget-update"):
        rules.broken(BETTER, f"it says {worse} {better}")


def main():
    rules = Rules()
    for rule in (KEPT, INSTRUCTION, LOCK, PATHS, BETTER):
        rules.rule(rule)
    try:
        gate.look_for_obstacles()
        compiler = gate.toolchain()
        budgets = gate.load()["budgets"]
        if compiler not in budgets:
            skip(f"there is no budget of {compiler}, only of {', '.join(budgets)}; "
                 "make budget-update makes one")
        own = budgets[compiler]
        with temporary_folder() as folder:
            worse, better = gate.compare(own, gate.run(gate.build(folder)))
            for sentence in [*worse, *better]:
                rules.broken(KEPT, sentence)
            if worse or better:
                rules.broken(KEPT, gate.WHAT_TO_DO)
            check_worse(rules, folder, own, "-DGATE_WORSE=1", INSTRUCTION, "instructions")
            check_worse(rules, folder, own, "-DGATE_WORSE=2", LOCK, "locked")
        check_comparison(rules, own)
    except gate.Unavailable as why:
        skip(str(why))
    rules.finish()


if __name__ == "__main__":
    main()
