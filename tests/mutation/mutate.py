#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the mutants of tests/mutation/parts on a copy of the tree: is each noticed by a test?

    make mutants                       every part; hours on a slow machine
    make mutants PART="windows pages"  some parts
    make mutants MUTANT=words          only mutants with one of these words in their names
    tests/mutation/mutate.py --patch --mutant NAME       prints it as a patch and runs nothing

One at a time is put into the copy, what it touches is built anew, the tests that are named beside
it run, then the others of its part, until one fails. A test that fails or hangs kills the mutant; a
failure counts when the program fails a second time too, but in the concurrency suite, whose totals
must always be exact. A mutant that does not compile is invalid. The end is a table by part; the
exit status is 1 when a part is below its target, an anchor is lost or a mutant is invalid.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import mutants
from mutants import TREE

TARGET_PERCENT = 90
TIMEOUT_AT_LEAST_S = 30
TIMEOUT_FACTOR = 8
BUILD_TIMEOUT_S = 900
FILE_BYTES_MAX = 1 << 30
EXIT_SKIPPED = 77
VARIANTS = {"": ("release", ["CFLAGS=-O1 -g0"]), "thread": ("tsan", ["SAN=thread"]),
            "address,undefined": ("asan", ["SAN=address,undefined"])}
KILLED, SURVIVED, EQUIVALENT, INVALID = "killed", "survived", "equivalent", "invalid"


def copy_tree(into):
    """The files that git tracks or would add, brought up to date below `into`; unchanged ones keep
    their times, so that little is built anew."""
    listed = subprocess.run(["git", "-C", str(TREE), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], stdout=subprocess.PIPE, check=True)
    names = {name for name in listed.stdout.decode().split("\0")
             if name and (TREE / name).is_file()}
    for folder, folders, files in os.walk(into):
        here = pathlib.Path(folder)
        if here == into and "build" in folders:
            folders.remove("build")
        for file in files:
            if str((here / file).relative_to(into)) not in names:
                (here / file).unlink()
    for name in names:
        source, target = TREE / name, into / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


class Workplace:
    """The copy of the tree, and building and running in it."""

    def __init__(self, root):
        self.root = root
        self.baseline = {}

    def make(self, sanitizer, tests):
        """Builds these tests' programs; returns what make said when it failed, or None."""
        variant, settings = VARIANTS[sanitizer]
        goals = []
        for test in tests:
            source = mutants.find_test(test, self.root).relative_to(self.root)
            if source.suffix != ".py":
                goals.append(f"build/{variant}/{source.with_suffix('')}")
            elif "integration" in source.parts:
                goals.append("all")
                goals.append("tests")
        jobs = f"-j{os.cpu_count()}"
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        done = subprocess.run(["make", "-s", jobs, "DEPS=no", "WERROR=", *settings,
                               *(goals or ["all"])],
                              cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, check=False, timeout=BUILD_TIMEOUT_S)
        return done.stdout.decode("utf-8", "replace") if done.returncode else None

    def run_once(self, sanitizer, test, timeout_s):
        """(how it failed, or None; seconds)"""
        variant, _ = VARIANTS[sanitizer]
        source = mutants.find_test(test, self.root)
        build = self.root / "build" / variant
        command = [sys.executable, source] if source.suffix == ".py" else \
            [build / source.relative_to(self.root).with_suffix("")]
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("CREST_")}
        environment.update(CREST_BUILD=str(build), LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1",
                           CREST_SAN=sanitizer, TSAN_OPTIONS="halt_on_error=1:exitcode=99",
                           CREST_SERVERS=str(TREE / "build/servers/root/usr/bin"))
        if sanitizer:
            command = ["setarch", "-R", *command]
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX,) * 2))
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        took = time.monotonic() - started
        if status in (0, EXIT_SKIPPED):
            return None, took
        how = "hangs" if status is None else f"signal {-status}" if status < 0 else "fails"
        return how, took

    def run(self, sanitizer, test):
        """How a test fails on the mutant that is in the tree, or None."""
        usual_s = self.baseline[sanitizer, test]
        timeout_s = max(TIMEOUT_AT_LEAST_S, TIMEOUT_FACTOR * usual_s)
        how, _ = self.run_once(sanitizer, test, timeout_s)
        if how == "fails" and mutants.find_test(test).parent.name != "concurrency":
            how, _ = self.run_once(sanitizer, test, timeout_s)
        return how

    def measure(self, sanitizer, tests):
        """Runs tests on the unchanged tree; returns those that fail there, which say nothing."""
        failing = []
        for test in tests:
            if (sanitizer, test) not in self.baseline:
                for _ in range(2):
                    how, took = self.run_once(sanitizer, test, 600)
                    if not how:
                        break
                self.baseline[sanitizer, test] = took
                if how:
                    failing.append(f"{test} {how}")
        return failing


def runs_with(sanitizer, test):
    """Whether the test runs in a build with this sanitizer, by its line `crest-test:`."""
    text = mutants.find_test(test).read_text(encoding="utf-8")
    allowed = re.search(r"crest-test:.*\bsanitizers=(\S+)", text)
    words_of_it = allowed.group(1).split(",") if allowed else ["all"]
    return not sanitizer or "all" in words_of_it or any(
        word in words_of_it for word in sanitizer.split(","))


def in_order(*lists):
    return list(dict.fromkeys(test for tests in lists for test in tests))


def judge(place, mutant, part, sources):
    """(verdict, by which test and how) for the mutant, which is put in and taken out again."""
    changed = mutant.change(sources)
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    try:
        others = [test for test in part.tests if test not in mutant.tests]
        for named in (mutant.tests, others):
            tests = [test for test in named if runs_with(mutant.sanitizer, test)]
            if not tests:
                continue
            said = place.make(mutant.sanitizer, tests)
            if said:
                return INVALID, said.strip()[-2000:]
            for test in tests:
                how = place.run(mutant.sanitizer, test)
                if how:
                    return KILLED, f"{test} {how}"
        return SURVIVED, ""
    finally:
        for path in changed:
            path.write_text(sources.text(path), encoding="utf-8")


def try_part(part, chosen, place, args):
    """The verdicts of a part's mutants: {name: (verdict, how)}."""
    sources = mutants.Sources(place.root)
    verdicts = {}
    running = [mutant for mutant in chosen if not mutant.equivalent or args.equivalent]
    for sanitizer in sorted({mutant.sanitizer for mutant in running}):
        tests = in_order(part.tests, *(mutant.tests for mutant in running
                                       if mutant.sanitizer == sanitizer))
        tests = [test for test in tests if runs_with(sanitizer, test)]
        said = place.make(sanitizer, tests)
        if said:
            sys.exit(f"The tree does not build as it is:\n{said}")
        failing = place.measure(sanitizer, tests)
        if failing:
            sys.exit(f"Without a mutant already: {', '.join(failing)}")
    for mutant in chosen:
        started = time.monotonic()
        if mutant.equivalent and not args.equivalent:
            verdict, how = EQUIVALENT, mutant.equivalent
        else:
            verdict, how = judge(place, mutant, part, sources)
            if mutant.equivalent:
                verdict, how = (INVALID, f"is not equivalent: {how}") if verdict == KILLED else \
                    (EQUIVALENT, mutant.equivalent)
        verdicts[mutant.name] = (verdict, how)
        first_line = how.splitlines()[0] if how else ""
        print(f"{verdict:<10} {part.name + ': ' + mutant.name:<58} "
              f"{time.monotonic() - started:5.1f} s  {first_line}", flush=True)
        if verdict == INVALID:
            print("".join(f"    | {line}\n" for line in how.splitlines()[:12]), end="", flush=True)
    return verdicts


def table(results):
    """The lines of the table by part, and whether every part reaches the target."""
    lines, good = [], True
    lines.append(f"{'part':<14} {'killed':>7} {'survived':>9} {'equivalent':>11} {'invalid':>8} "
                 f"{'killed of not equivalent':>25}")
    total = dict.fromkeys((KILLED, SURVIVED, EQUIVALENT, INVALID), 0)
    for name in [*results, "all"]:
        counts = total if name == "all" else dict.fromkeys(total, 0)
        if name != "all":
            for verdict, _ in results[name].values():
                counts[verdict] += 1
                total[verdict] += 1
        asked = counts[KILLED] + counts[SURVIVED]
        percent = 100 * counts[KILLED] / asked if asked else 100
        good = good and percent >= TARGET_PERCENT and not counts[INVALID]
        lines.append(f"{name:<14} {counts[KILLED]:>7} {counts[SURVIVED]:>9} "
                     f"{counts[EQUIVALENT]:>11} {counts[INVALID]:>8} "
                     f"{f'{counts[KILLED]}/{asked}  {percent:5.1f} %':>25}")
    return lines, good


def print_patches(chosen):
    sources = mutants.Sources()
    for part, picked in chosen:
        for mutant in picked:
            print(f"{part.name}: {mutant.name}\n{mutant.fields['why']}\n")
            for path, text in mutant.change(sources).items():
                name = str(path.relative_to(TREE))
                diff = difflib.unified_diff(sources.text(path).splitlines(True),
                                            text.splitlines(True), f"a/{name}", f"b/{name}")
                print("".join(diff))


def choose(args):
    """[(part, its mutants that were asked for)], after all anchors were looked at."""
    names = args.part or list(mutants.PARTS)
    unknown = set(names) - set(mutants.PARTS)
    if unknown:
        sys.exit(f"No such part: {' '.join(sorted(unknown))}; there are: {' '.join(mutants.PARTS)}")
    sources, chosen, problems = mutants.Sources(), [], []
    for part in mutants.read_parts(names):
        picked = [mutant for mutant in part.mutants
                  if not args.mutant or any(word in mutant.name for word in args.mutant)]
        for mutant in picked:
            problems += mutants.problems_of(mutant, sources)
        if picked:
            chosen.append((part, picked))
    if problems:
        sys.exit("\n".join(problems))
    if not chosen:
        sys.exit("No mutant has such a name.")
    return chosen


def words(text):
    return text.replace(",", " ").split()


def main():
    parser = argparse.ArgumentParser(description="Tries mutants; see the top of this file.")
    parser.add_argument("--part", type=words, default=[], help="parts, instead of all")
    parser.add_argument("--mutant", type=words, default=[], help="words in names of mutants")
    parser.add_argument("--patch", action="store_true", help="print patches and run nothing")
    parser.add_argument("--equivalent", action="store_true",
                        help="run the equivalent ones too: a test that notices one proves it wrong")
    parser.add_argument("--tree", type=pathlib.Path, default=TREE / "build/mutation/tree",
                        help="where the copy of the tree is made")
    args = parser.parse_args()
    chosen = choose(args)
    if args.patch:
        print_patches(chosen)
        return 0
    place = Workplace(args.tree.resolve())
    place.root.mkdir(parents=True, exist_ok=True)
    copy_tree(place.root)
    results = {}
    for part, picked in chosen:
        results[part.name] = try_part(part, picked, place, args)
        kept = place.root.parent / "results"
        kept.mkdir(exist_ok=True)
        (kept / f"{part.name}.json").write_text(json.dumps(results[part.name], indent=1) + "\n")
    lines, good = table(results)
    print("\n".join(lines))
    for name, verdicts in results.items():
        for mutant, (verdict, _) in verdicts.items():
            if verdict == SURVIVED:
                print(f"survived: {name}: {mutant}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
