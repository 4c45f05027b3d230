#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The node's prometheus.yml and alert rules, judged by Prometheus's own promtool."""

import os
import pathlib
import subprocess

from nodelib import Checks, ROOT, skip

FOLDER = ROOT / "examples/node"
SERVERS = pathlib.Path(os.environ.get("CREST_SERVERS") or ROOT / "build/servers/root/usr/bin")
PROMTOOL = SERVERS / "promtool"


def main():
    if not PROMTOOL.exists():
        skip(f"{PROMTOOL} is not there: make servers")
    checks = Checks()
    for arguments in (["check", "config", "prometheus.yml"], ["check", "rules", "alerts.yml"],
                      ["check", "rules", "generated_rules.yml", "../../share/crest_rules.yml"],
                      ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run([PROMTOOL, *arguments], cwd=FOLDER, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        checks.that(done.returncode == 0, "promtool " + " ".join(arguments), done.stdout)
    checks.finish()


main()
