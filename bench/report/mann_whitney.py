# SPDX-License-Identifier: Apache-2.0
"""Whether two samples come from one distribution: Mann and Whitney's U test, two-sided.

    p, how = test([1.0, 1.1, 1.2, 1.3, 1.4], [1.5, 1.6, 1.7, 1.8, 1.9])   # 0.0079…, "exact"

It assumes nothing of the distribution; times of programs are not normally distributed. Small
samples are tested exactly, by counting in how many of all the ways to deal the values out U is as
far from its middle; ties are dealt out too. Larger ones take the normal approximation with
corrections for ties and for continuity.
"""

import functools
import math

EXACT_MOST = 50        # values of a sample without ties
EXACT_TIED_MOST = 30   # values of both samples together where some are equal


def ranks(values):
    """The rank of each value, from 1 on; equal ones share the mean of theirs. And the sizes of
    the groups of equal values."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, groups, first = [0.0] * len(values), [], 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for place in order[first:end]:
            found[place] = (first + 1 + end) / 2
        groups.append(end - first)
        first = end
    return found, groups


def u_of(a, b):
    """In how many pairs the value of `a` is the larger, equal ones counted as halves."""
    found, _ = ranks([*a, *b])
    return sum(found[:len(a)]) - len(a) * (len(a) + 1) / 2


@functools.lru_cache(maxsize=64)
def ways_untied(m, n):
    """How many of the ways to deal m + n different values out give each U, as a tuple by U.

    The generating function is the Gaussian binomial coefficient (m + n over m): the product over
    i = 1 … m of (1 - x^(n+i)) / (1 - x^i)."""
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for u in range(m * n, n + i - 1, -1):
            ways[u] -= ways[u - n - i]
        for u in range(i, m * n + 1):
            ways[u] += ways[u - i]
    return tuple(ways)


@functools.lru_cache(maxsize=256)
def ways_tied(m, groups):
    """The same as a dictionary by twice the sum of the ranks of the m values, when values are
    equal in groups of these sizes, from the smallest value on."""
    ways, before = {(0, 0): 1}, 0
    for size in groups:
        twice = 2 * before + size + 1
        after = {}
        for (taken, total), count in ways.items():
            for more in range(min(size, m - taken) + 1):
                key = (taken + more, total + more * twice)
                after[key] = after.get(key, 0) + count * math.comb(size, more)
        ways, before = after, before + size
    return {total: count for (taken, total), count in ways.items() if taken == m}


def p_exact(m, n, u, groups):
    if max(groups) == 1:
        by_u = dict(enumerate(ways_untied(m, n)))
    else:
        least = m * (m + 1)
        by_u = {(total - least) / 2: ways for total, ways in ways_tied(m, groups).items()}
    every = math.comb(m + n, m)
    below = sum(ways for each, ways in by_u.items() if each <= u)
    above = sum(ways for each, ways in by_u.items() if each >= u)
    return min(1.0, 2 * min(below, above) / every)


def p_normal(m, n, u, groups):
    total = m + n
    tied = sum(size ** 3 - size for size in groups) / (total * (total - 1))
    deviation = math.sqrt(m * n / 12 * (total + 1 - tied))
    if deviation == 0:
        return 1.0  # every value is the same one
    away = max(0.0, abs(u - m * n / 2) - 0.5)
    return math.erfc(away / deviation / math.sqrt(2))


def test(a, b):
    """The probability of samples at least as far apart as these if they were of one distribution,
    and how it was found: `exact` or `normal`."""
    if not a or not b:
        raise ValueError("a sample without values cannot be tested")
    if not all(math.isfinite(value) for value in [*a, *b]):
        raise ValueError("a value that is not a finite number cannot be tested")
    _, groups = ranks([*a, *b])
    u = u_of(a, b)
    exact = max(len(a), len(b)) <= EXACT_MOST if max(groups) == 1 else \
        len(a) + len(b) <= EXACT_TIED_MOST
    how = p_exact if exact else p_normal
    return how(len(a), len(b), u, tuple(groups)), "exact" if exact else "normal"
