# SPDX-License-Identifier: Apache-2.0
"""What the structural checks share: the tree's files, its layers, and the closing count.

A check collects problems under named rules and ends with finish(), which prints every problem and
the line `N passed, N failed, N skipped`. CREST_ROOT points a check at another tree than its own,
which is how check_the_checks.py proves that each rule can fail.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("CREST_ROOT") or pathlib.Path(__file__).parents[2]).resolve()
BUILD = pathlib.Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
TWINS = BUILD.parent / "include"  # what the headers include with CREST_DISABLE
CC = os.environ.get("CC", "gcc").split()
CXX = os.environ.get("CXX", "g++").split()

C_SUFFIXES = {".c", ".h", ".hpp", ".cc"}
SKIPPED_FOLDERS = {"build", ".git"}
PROBLEM_LINES_MAX = 40


def tree():
    """Every file of the project as a path relative to ROOT: what git tracks or would add, and
    without git (a release archive) everything outside build/."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        names = [pathlib.Path(name) for name in done.stdout.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
    return sorted({name for name in names
                   if (ROOT / name).is_file() and not SKIPPED_FOLDERS.intersection(name.parts)})


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def without_comments(text):
    """C source with comments and the contents of strings blanked, line numbers kept; include
    lines keep their file names."""
    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return " " + "\n" * found.count("\n")
        return '""' if found[0] == '"' else "''"
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    kept = []
    for line in re.sub(r"/\*.*?\*/", blank, text, flags=re.S).split("\n"):
        kept.append(line if re.match(r"\s*#\s*include", line) else re.sub(pattern, blank, line))
    return "\n".join(kept)


def command(arguments, **options):
    """Runs a program and returns (exit status, its output)."""
    done = subprocess.run([str(part) for part in arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="crest-check-")


def skip(reason):
    """Ends the check as one that could not run."""
    print(reason)
    sys.exit(77)


class Rules:
    """The rules of one check and what breaks them."""

    def __init__(self):
        self.names = []
        self.problems = {}

    def rule(self, name):
        if name not in self.problems:
            self.names.append(name)
            self.problems[name] = []
        return name

    def broken(self, name, problem):
        self.problems[self.rule(name)].append(problem)

    def finish(self):
        failed = 0
        for name in self.names:
            failed += bool(self.problems[name])
            print(f"{'FAIL' if self.problems[name] else 'ok  '} {name}")
            lines = "\n".join(self.problems[name]).splitlines()
            for line in lines[:PROBLEM_LINES_MAX]:
                print(f"       {line}")
            if len(lines) > PROBLEM_LINES_MAX:
                print(f"       ... and {len(lines) - PROBLEM_LINES_MAX} lines more")
        print(f"{len(self.names) - failed} passed, {failed} failed, 0 skipped")
        sys.exit(1 if failed else 0)
