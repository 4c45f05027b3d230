#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What part of the library the tests ran: `make coverage` calls it after them.

One line a file of src, reporters and include/crest, the least first: lines and branches, and how
many lines were not run. Below LEAST_PERCENT a file needs a reason in tests/coverage/reasons, as

    reporters/x.c: needs a machine with two clocks

and a reason needs a file that is below: what is in there for nothing fails too. Counting is gcov's
and gcovr's. A child that ends by _exit, as most do here, leaves no counts, nor does one that is
killed: what only such children run is counted as not run.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REASONS = pathlib.Path(__file__).with_name("reasons")
LEAST_PERCENT = 85
SHOWN_FROM_PERCENT = 95
FILTERS = ["src/", "reporters/", "include/crest/"]


def summary(build):
    """What gcovr counted, by file."""
    command = ["gcovr", "--root", ".", "--object-directory", str(build), "--json-summary",
               "--exclude-throw-branches", str(build)]
    for part in FILTERS:
        command += ["--filter", part]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"gcovr failed: {done.stderr.strip()[-2000:]}\n"
                 "It is Debian's gcovr; `make deps SUITES=coverage` installs it.")
    return json.loads(done.stdout)


def reasons():
    found = {}
    for number, line in enumerate(REASONS.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            name, colon, reason = line.partition(": ")
            if not colon or not reason.strip():
                sys.exit(f"{REASONS}:{number}: a line is FILE: REASON")
            found[name] = reason.strip()
    return found


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def judge(files, why):
    """What is wrong, in sentences."""
    below = {name for name, line in files if line["line_total"] and
             percent(line["line_covered"], line["line_total"]) < LEAST_PERCENT}
    yield from (f"{name} is below {LEAST_PERCENT} % and has no reason in {REASONS.name}"
                for name in sorted(below - set(why)))
    yield from (f"{name} has a reason in {REASONS.name} and needs none"
                for name in sorted(set(why) - below))


def main():
    build = pathlib.Path(sys.argv[1])
    counted = summary(build)
    files = sorted(((one["filename"], one) for one in counted["files"]),
                   key=lambda one: percent(one[1]["line_covered"], one[1]["line_total"]))
    if len(files) < 50:
        sys.exit(f"Only {len(files)} files were counted in {build}: were the tests run?")
    why = reasons()
    print(f"{'file':<44} {'lines':>7} {'branches':>9} {'not run':>8}")
    for name, one in files:
        lines = percent(one["line_covered"], one["line_total"])
        if lines < SHOWN_FROM_PERCENT:
            branches = percent(one["branch_covered"], one["branch_total"])
            print(f"{name:<44} {lines:6.1f} % {branches:7.1f} %"
                  f" {one['line_total'] - one['line_covered']:8}  {why.get(name, '')}".rstrip())
    print(f"{'all of ' + str(len(files)) + ' files':<44} "
          f"{percent(counted['line_covered'], counted['line_total']):6.1f} % "
          f"{percent(counted['branch_covered'], counted['branch_total']):7.1f} % "
          f"{counted['line_total'] - counted['line_covered']:8}")
    problems = list(judge(files, why))
    print("".join(f"{problem}\n" for problem in problems), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
