#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crest lint and the library agree on names: which are valid, and which are too close. The verdicts
of src/names/names.c and src/names/lookalike_names.c come from names_program.c, over a table and
over random names."""

import random
import subprocess

import toolslib
from toolslib import BUILD, CC, ROOT, Skip, command, equal

from crest_lint.lint_names import RESERVED_NAMES, label_key_fault, name_fault, split_key

NAMES = ["comm", "comm.ping", "comm.ping-time", "a.b_c", "A.b", "", " ", "1a", "_a", ".a", "a.",
         "a-", "a..b", "a.-b", "a--b", "a-.b", "a_-b", "a-_b", "a b", "a/b", "a:b", "up", "u-p",
         "push.time.seconds", "crest-target", "x" * 200, "x" * 201, "a" + ".b" * 99,
         "a" + ".b" * 100, "shard-1-2", "a.1", "a\tb", *sorted(RESERVED_NAMES)]
PAIRS = [("comm.block-seen", "comm.block_seen"), ("comm.block-seen", "Comm.BlockSeen"),
         ("comm.blockseen", "comm.block.seen"), ("shard-1-2", "shard-12"), ("a1-2b", "a1.2b"),
         ("a1-2b", "a12b"), ("a-1", "a1"), ("1-a", "1a"), ("ping", "ping-time"), ("a", "b"),
         ("a__b", "ab"), ("a-1_2", "a-1-2"), ("a1_-2", "a1.2"), ("a1__2", "a12"), ("_1", "1")]
KEYS = ["kind", "Kind", "k1", "1k", "_k", "k-k", "k.k", "", "le", "quantile", "outcome", "job",
        "instance", "stage", "x" * 100, "x" * 101]
RANDOM = 20000


def library(place, questions):
    program = place / "names_program"
    archive = BUILD / "lib/libcrest.a"
    if not archive.exists():
        raise Skip(f"there is no {archive}")
    command([*CC, "-std=gnu11", f"-I{ROOT}/include", f"-I{ROOT}/src",
             "-o", program, ROOT / "tests/tools/names_program.c", archive, "-lck", "-lpthread"])
    done = subprocess.run([program], input="".join(f"{line}\n" for line in questions).encode(),
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().splitlines()


def names_are_valid_for_both(place):
    chance = random.Random(5)
    names = NAMES + ["".join(chance.choice("aZ1_.- é") for _ in range(chance.randrange(1, 8)))
                     for _ in range(RANDOM)]
    # the library counts bytes, crest lint characters: beyond ASCII only the verdict is the same
    for name, said in zip(names, library(place, [f"name {name}" for name in names])):
        equal(name_fault(name) is None, said == "ok", f"{name!r}: {said}")
        if name.isascii() and len(name) <= 200:
            equal((name_fault(name) or "ok").split()[:2], said.split()[:2], f"why, {name!r}")


def spellings_are_split_for_both(place):
    chance = random.Random(6)
    pairs = list(PAIRS)
    for _ in range(RANDOM):
        name = "".join(chance.choice("aB12.-_") for _ in range(chance.randrange(1, 8)))
        other = "".join(c for c in name.swapcase() if c not in ".-_" or chance.random() < 0.5)
        pairs.append((name, other or "a"))
    for (one, other), said in zip(pairs, library(place, [f"split {a} {b}" for a, b in pairs])):
        equal(split_key(one) == split_key(other), said == "same", f"{one!r} and {other!r}")


def label_keys_are_valid_for_both(place):
    for key, said in zip(KEYS, library(place, [f"key {key}" for key in KEYS])):
        equal(label_key_fault(key) is None, said == "ok", repr(key))


toolslib.main([names_are_valid_for_both, spellings_are_split_for_both,
               label_keys_are_valid_for_both])
