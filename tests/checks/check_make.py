#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Makefile stays short, its help fits a screen, and make knows how to make every target."""

import os
import re

from checklib import ROOT, Rules, command, read, tree

LINES_MAX = 250
SCREEN_LINES, SCREEN_COLUMNS = 24, 80
SHORT = f"the Makefile has at most {LINES_MAX} lines"
SCREEN = f"make help fits {SCREEN_LINES} lines of {SCREEN_COLUMNS} columns"
HELPED = "every target that one may ask for is in make help-all"
MADE = "make knows how to make every target"
# asked for by other targets, or by the benchmark's sides
INSIDE = {"FORCE", "bench-prometheus-cpp", "demo-servers"}


def make(*arguments):
    return command([os.environ.get("MAKE", "make"), "-C", ROOT, "--no-print-directory", "DEPS=no",
                    *arguments])


def main():
    rules = Rules()
    for rule in (SHORT, SCREEN, HELPED, MADE):
        rules.rule(rule)
    lines = read("Makefile").count("\n")
    if lines > LINES_MAX:
        rules.broken(SHORT, f"it has {lines}")
    status, shown = make("help")
    screen = shown.splitlines()
    if status != 0 or not screen or len(screen) > SCREEN_LINES:
        rules.broken(SCREEN, f"exit status {status}, {len(screen)} lines: {shown}")
    for line in screen:
        if len(line) > SCREEN_COLUMNS:
            rules.broken(SCREEN, f"{len(line)} columns: {line}")
    whole = make("help-all")[1]
    texts = [read(name) for name in tree()
             if str(name) == "Makefile" or name.suffix == ".mk" and name.parts[0] == "mk"]
    targets = {target for text in texts
               for names in re.findall(r"^\.PHONY: (.*)", text, re.M) for target in names.split()}
    for target in sorted(targets - INSIDE):
        if not re.search(rf"^  make {target} ", whole, re.M):
            rules.broken(HELPED, target)
    for target in sorted(targets):
        status, output = make("--dry-run", target)
        if status != 0:
            rules.broken(MADE, f"{target}: exit status {status}: {output.strip()[-400:]}")
    rules.finish()


if __name__ == "__main__":
    main()
