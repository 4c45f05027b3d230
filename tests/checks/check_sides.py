#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the sides of the benchmarks as bench/README.md describes them: each side.json, the ids that
targets name, and the lock files that say which packages of others are built."""

import json
import pathlib
import re

from checklib import ROOT, Rules, read, tree

# What a side.json may have, and of which type; the first three it must have.
KEYS = {"name": str, "text": str, "run": list, "build": list, "needs": list, "limit_s": int,
        "carries_out": list}
REQUIRED = ("name", "text", "run")
PLACES = {"build", "bench", "root"}
ID = re.compile(r"[a-z0-9-]+/[a-z0-9-]+/[a-z0-9-]+/[1-9][0-9]*(-same|-separate)?")

# A package manager's file, its lock file, and where the packages that this names may come from.
LOCKS = {
    "Cargo.toml": ("Cargo.lock", re.compile(r'^source = "(?!registry\+https://github\.com/'
                                            r'rust-lang/crates\.io-index")', re.M)),
    "go.mod": ("go.sum", re.compile(r"://|^replace ", re.M)),
}

DESCRIBED = "every side.json has what it must have, and nothing unknown"
RUN = "every side has its own name, and a profile runs it"
TARGETS = "targets name benchmarks as PEER/OPERATION/SPREAD/THREADS"
LOCKED = "packages of others are locked, and come from public registries"


def words(value):
    return isinstance(value, list) and value and all(isinstance(word, str) for word in value)


def problems_of(side):
    """What is wrong with the content of a side.json."""
    if not isinstance(side, dict):
        return ["it is no object"]
    wrong = [f"no {key!r}" for key in REQUIRED if not side.get(key)]
    wrong += [f"{key!r} is unknown" for key in side if key not in KEYS]
    wrong += [f"{key!r} is no {KEYS[key].__name__}" for key in side
              if key in KEYS and not isinstance(side[key], KEYS[key])]
    if wrong:
        return wrong
    if not re.fullmatch(r"[a-z][a-z0-9-]*", side["name"]):
        wrong.append(f"its name is {side['name']!r}")
    for key in ("run", "build"):
        if key in side and not words(side[key]):
            wrong.append(f"{key!r} is no list of words")
        places = re.findall(r"\{(\w+)\}", " ".join(map(str, side.get(key, []))))
        wrong += [f"{{{place}}} in {key!r} is no place" for place in places if place not in PLACES]
    for need in side.get("needs", []):
        if (not isinstance(need, dict) or "install" not in need
                or len({"command", "header"} & set(need)) != 1 or len(need) != 2):
            wrong.append(f"{need!r} is no need: command or header, and install")
    return wrong


def check_side(rules, name, seen, run):
    try:
        side = json.loads(read(name))
    except ValueError as error:
        rules.broken(DESCRIBED, f"{name}: {error}")
        return
    wrong = problems_of(side)
    for problem in wrong:
        rules.broken(DESCRIBED, f"{name}: {problem}")
    if wrong:
        return
    if side["name"] in seen:
        rules.broken(RUN, f"{name} and {seen[side['name']]} are both {side['name']!r}")
    seen[side["name"]] = name
    if side["name"] not in run:
        rules.broken(RUN, f"{name}: no file of bench/profiles names {side['name']!r}")


def check_locks(rules, sources, name):
    if name.name not in LOCKS or name.parts[0] != "bench":
        return
    lock, foreign = LOCKS[name.name]
    lock = name.with_name(lock)
    if lock not in sources:
        rules.broken(LOCKED, f"{name}: there is no {lock.name} beside it")
        return
    for path in (lock, name):
        text = read(path)
        for match in foreign.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1:].split("\n")[0]
            if not line.startswith("//"):
                rules.broken(LOCKED, f"{path}: {line}")


def sides_of(profile):
    """The sides that a profile or an overlay runs."""
    return profile.get("sides") or [] if isinstance(profile, dict) else []


def main():
    rules = Rules()
    for rule in (DESCRIBED, RUN, TARGETS, LOCKED):
        rules.rule(rule)
    sources, seen = tree(), {}
    profiles = pathlib.PurePath("bench/profiles")
    run = {side for name in sources if profiles in name.parents and name.suffix == ".json"
           for side in sides_of(json.loads(read(name)))}
    for name in sources:
        if name.name == "side.json":
            check_side(rules, name, seen, run)
        check_locks(rules, sources, name)
    targets = ROOT / "bench" / "targets.json"
    for target in json.loads(targets.read_text()) if targets.is_file() else []:
        for key in ("id", "against"):
            if key in target and not ID.fullmatch(target[key]):
                rules.broken(TARGETS, f"{target[key]!r}")
    rules.finish()


if __name__ == "__main__":
    main()
