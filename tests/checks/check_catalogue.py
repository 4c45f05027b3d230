#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is generated from manifests and checked in is what the manifests say now: the tables of
METRICS.md and of examples/rnode, C headers, the node's dashboard and rules. A difference is shown;
`make catalogue` mends it. And every manifest is sound, apart and beside those it is used with."""

import os
import shlex
import sys

from checklib import ROOT, Rules, command, skip, tree

TOOL = ROOT / "tools/crest-catalogue"
SOUND = "manifests have no errors"
FRESH = "tables, headers, dashboard and rules are up to date (make catalogue)"


def main():
    if command([sys.executable, "-c", "import yaml"])[0] != 0:
        skip("PyYAML is not installed (make deps)")
    rules = Rules()
    rules.rule(SOUND)
    rules.rule(FRESH)
    for name in tree():
        if name.name.endswith(".metrics.yaml"):
            status, output = command([TOOL, "list", ROOT / name])
            if status != 0:
                rules.broken(SOUND, output.strip())
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
    status, output = command([os.environ.get("MAKE", "make"), "-C", ROOT, "--no-print-directory",
                              "catalogue", *settings, "CATALOGUE_CHECK=--check"])
    if status != 0:
        rules.broken(FRESH, output.strip())
    rules.finish()


if __name__ == "__main__":
    main()
