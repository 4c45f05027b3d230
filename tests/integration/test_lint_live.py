#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400
"""`crest-lint live` asks a running node of a network of three: what its manifests promise is there,
with types, labels and bounds, and has moved. And it notices when a manifest promises more."""

import pathlib
import subprocess
import sys
import tempfile
import time

import nodelib

LINT = [nodelib.ROOT / "tools/crest", "lint"]
MANIFESTS = [nodelib.ROOT / "examples/node", nodelib.ROOT / "catalogue"]
NODES = 3
SECONDS = 300
# Blocks get to full support, forks are orphaned, every neighbour has answered a ping.
PATIENCE_S = 120
PAUSE_S = 1

PROMISED = """
manifest: 1
team: more
prefixes: [more]
metrics:
  - {name: more.promised, instrument: counter, meaning: Nobody records it.}
"""


def lint(url, *more, quiet=True):
    done = subprocess.run(
        [*LINT, "live", "-m", *map(str, [*MANIFESTS, *more]),
         *(["-q"] if quiet else []), "--", url], capture_output=True, check=False, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    if subprocess.run([sys.executable, "-c", "import yaml"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        nodelib.skip("PyYAML is missing (Debian: python3-yaml)")
    if not nodelib.NODE.exists():
        nodelib.skip(f"there is no {nodelib.NODE}")
    checks = nodelib.Checks()
    with tempfile.TemporaryDirectory(prefix="crest-lint-live-") as folder:
        place = pathlib.Path(folder)
        *ports, scrape = nodelib.free_ports.take(NODES + 1)
        url = f"http://127.0.0.1:{scrape}/metrics"
        nodes = [nodelib.Node(place, index, ports, "--nodes", str(NODES), "--seconds", str(SECONDS),
                              crest_opts=f"prometheus=127.0.0.1:{scrape},system=on,hiccups=on"
                              if index == 0 else None) for index in range(NODES)]
        try:
            until = time.monotonic() + PATIENCE_S
            status, said = lint(url)
            while status != 0 and time.monotonic() < until:
                time.sleep(PAUSE_S)
                status, said = lint(url)
            checks.that(status == 0, "a running node has what its manifests promise", said)
            (place / "more.metrics.yaml").write_text(PROMISED)
            status, said = lint(url, place / "more.metrics.yaml")
            checks.that(status == 1 and "'more.promised' (counter" in said and
                        "[live-missing]" in said, "what is only promised is missed", status, said)
            status, said = lint(url + "/nowhere")
            checks.that(status == 2 and "answered 404" in said, "another page is none", said)
        finally:
            for node in nodes:
                node.process.terminate()
            ends = [node.wait() for node in nodes]
        checks.that(ends == [0] * NODES, "the nodes end well", ends)
        status, said = lint(url)
        checks.that(status == 2 and "cannot be fetched" in said, "a node that is gone", said)
    checks.finish()


if __name__ == "__main__":
    main()
