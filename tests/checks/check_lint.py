#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tools/crest lint on this repository, so that manifests, METRICS.md and code cannot disagree:
what is recorded is declared, what is declared is recorded, and all names follow the rules.

The live part, a node that runs, is tests/integration/test_lint_live.py.
"""

import sys

from checklib import ROOT, Rules, command, skip

LINT = [ROOT / "tools/crest", "lint"]
CREST = "catalogue"
NODE = "examples/node"
NUMBERED = ["examples/examples.metrics.yaml", "examples/28_catalogue.metrics.yaml"]
RNODE = "examples/rnode"
JVM = "examples/jvm"
SHIM = "jvm-shim"

# What is checked: words, and the arguments that check it.
STEPS = [
    ("Crest's own manifests follow the rules", ["manifest", CREST, SHIM]),
    ("the example node's manifests follow the rules", ["manifest", NODE]),
    ("the examples' manifests follow the rules", ["manifest", *NUMBERED]),
    ("the manifest of the JVM's examples follows the rules", ["manifest", JVM]),
    ("RNode's manifests follow the rules, or say why not", ["manifest", RNODE, SHIM]),
    ("the library records what its manifests declare",
     ["source", "-m", CREST, "--", "include", "src", "reporters"]),
    ("the JVM shim records what its manifest declares",
     ["source", "-m", SHIM, "--with", CREST, "--",
      f"{SHIM}/crest-jvm/src/main/java/io/crest/jvm"]),
    ("the example node records what its manifests declare",
     ["source", "-m", NODE, "--with", CREST, "--", NODE]),
    ("the examples record what their manifests declare",
     ["source", "-m", *NUMBERED, "--with", CREST, "--exclude", "*/node", "--exclude", "*/demo",
      "--exclude", "*/jvm", "--", "examples"]),
    ("the example node's events follow the rules, and so do the library's",
     ["events", "src", NODE]),
    ("the JVM's examples record what their manifest declares",
     ["source", "-m", JVM, "--with", CREST, "--", JVM]),
]


def main():
    status, output = command([sys.executable, "-c", "import yaml"])
    if status != 0:
        skip("PyYAML is missing (Debian: python3-yaml)")
    rules = Rules()
    for words, arguments in STEPS:
        rules.rule(words)
        status, output = command([*LINT, arguments[0], "--quiet", *arguments[1:]],
                                 cwd=ROOT)
        if status != 0:
            rules.broken(words, output.strip())
    rules.finish()


if __name__ == "__main__":
    main()
