#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The U test of bench/report: against published critical values and worked examples, and against
every way to deal small samples out."""

import itertools
import math
import random
import sys

import toolslib
from toolslib import Failure, equal

sys.path.insert(0, str(toolslib.ROOT / "bench/report"))

import mann_whitney  # noqa: E402

# The largest U that is significant at 0.05, two-sided, as tables print it; None: none is.
CRITICAL = {
    (3, 3): None, (3, 4): None, (3, 5): 0, (4, 4): 0, (4, 5): 1, (5, 5): 2, (5, 6): 3, (5, 10): 8,
    (6, 6): 5, (7, 7): 8, (8, 8): 13, (9, 9): 17, (10, 10): 23, (10, 15): 39, (12, 12): 37,
    (15, 15): 64, (20, 20): 127,
}


def near(found, wanted, what, within=1e-12):
    if not math.isclose(found, wanted, rel_tol=0, abs_tol=within):
        raise Failure(f"{what}: found {found!r}, wanted {wanted!r}")


def by_enumeration(a, b):
    """The smaller tail, doubled, counted over every way to choose which values are a's."""
    pool = [*a, *b]

    def u_of(chosen):
        rest = [pool[place] for place in range(len(pool)) if place not in chosen]
        return sum((pool[place] > other) + (pool[place] == other) / 2
                   for place in chosen for other in rest)
    found = u_of(range(len(a)))
    every = [u_of(chosen) for chosen in itertools.combinations(range(len(pool)), len(a))]
    below, above = (sum(each <= found for each in every), sum(each >= found for each in every))
    return min(1.0, 2 * min(below, above) / len(every))


def agrees_with_published_critical_values(_):
    for (m, n), wanted in CRITICAL.items():
        significant = [u for u in range(m * n // 2 + 1)
                       if mann_whitney.p_exact(m, n, u, (1,) * (m + n)) <= 0.05]
        equal(max(significant, default=None), wanted, f"critical U of {m} and {n}")


def agrees_with_worked_examples(_):
    # Six tortoises and six hares in the order of their arrival, T H H H H H T T T T T H: U is 11.
    tortoises, hares = [12, 6, 5, 4, 3, 2], [11, 10, 9, 8, 7, 1]
    equal(mann_whitney.u_of(tortoises, hares), 11, "U of the tortoises")
    equal(mann_whitney.u_of(hares, tortoises), 25, "U of the hares")
    # Ages at a diagnosis, from SciPy's manual: U is 17, p is 1/9, and 0.1113 by approximation.
    men, women = [19, 22, 16, 29, 24], [20, 11, 17, 12]
    equal(mann_whitney.u_of(men, women), 17, "U of the men")
    near(mann_whitney.test(men, women)[0], 1 / 9, "p of the ages")
    near(mann_whitney.p_normal(5, 4, 17, (1,) * 9), 0.11134688653314041, "p by approximation", 1e-9)


def agrees_with_every_way_to_deal(_):
    draw = random.Random(20)
    for m, n in itertools.product(range(1, 6), repeat=2):
        for different in (2, 3, 5, 1000):
            a = [draw.randrange(different) for _ in range(m)]
            b = [draw.randrange(different) for _ in range(n)]
            near(mann_whitney.test(a, b)[0], by_enumeration(a, b), f"p of {a} and {b}")


def counts_every_way_once(_):
    for m, n in itertools.product(range(1, 12), repeat=2):
        equal(sum(mann_whitney.ways_untied(m, n)), math.comb(m + n, m), f"ways of {m} and {n}")
        equal(sum(mann_whitney.ways_tied(m, (n, m)).values()), math.comb(m + n, m),
              f"ways of {m} and {n}, tied")
    untied = mann_whitney.ways_untied(4, 7)
    tied = mann_whitney.ways_tied(4, (1,) * 11)
    equal([tied[2 * u + 20] for u in range(29)], list(untied), "both ways to count")


def is_the_same_from_both_sides(_):
    a, b = [1.0, 2.0, 2.0, 5.0, 9.0, 9.5], [2.0, 3.0, 9.0, 9.0, 11.0]
    equal(mann_whitney.test(a, b), mann_whitney.test(b, a), "p")


def approximates_large_samples(_):
    draw = random.Random(20)
    a = [draw.gauss(10, 1) for _ in range(45)]
    for shift in (0.0, 0.3, 0.6):
        b = [draw.gauss(10 + shift, 1) for _ in range(45)]
        p, how = mann_whitney.test(a, b)
        equal(how, "exact", "45 values")
        near(mann_whitney.p_normal(45, 45, mann_whitney.u_of(a, b), (1,) * 90), p, "p", 0.003)
    equal(mann_whitney.test(a * 2, b)[1], "normal", "90 values, tied")
    halves = [value + 0.5 for value in range(60)]
    equal(mann_whitney.test(list(range(60)), halves)[1], "normal", "60 values")


def knows_what_does_not_vary(_):
    equal(mann_whitney.test([3.0] * 5, [3.0] * 5), (1.0, "exact"), "equal constants")
    equal(mann_whitney.test([3.0] * 40, [3.0] * 40), (1.0, "normal"), "equal constants, many")
    near(mann_whitney.test([3.0] * 5, [4.0] * 5)[0], 2 / 252, "different constants")


def refuses_what_it_cannot_rank(_):
    for a, b in (([], [1.0]), ([1.0], []), ([1.0, math.nan], [1.0]), ([1.0], [math.inf])):
        try:
            mann_whitney.test(a, b)
        except ValueError:
            continue
        raise Failure(f"{a} and {b} were tested")


toolslib.main([
    agrees_with_published_critical_values, agrees_with_worked_examples,
    agrees_with_every_way_to_deal, counts_every_way_once, is_the_same_from_both_sides,
    approximates_large_samples, knows_what_does_not_vary, refuses_what_it_cannot_rank])
