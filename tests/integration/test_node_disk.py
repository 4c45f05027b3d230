#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""A full disk under the node's store: the node says what to do, counts it, and goes on.

Twice: with a full map (--map-size), and on a real file system that is full, a small tmpfs in a
mount namespace of its own, which gets its space back while the node runs.
"""

import os
import pathlib
import subprocess
import sys

from nodelib import Checks, NODE, Network, read_page, wait_for

FAILED = "rchain_block_storage_lmdb_put_failed_total"
PUT = "rchain_block_storage_lmdb_put_time_seconds_count"
SYNC = "rchain_block_storage_lmdb_sync_time_seconds_count"
LOAD = ("--deploys-per-second", "300", "--transfers-per-deploy", "50", "--block-interval-ms", "100",
        "--fork-every", "0")
TMPFS_BYTES = 1 << 20


def says(what, node):
    return wait_for(lambda: what in node.said())


def proposes(node):
    """For as long as it takes to see that it goes on."""
    seen = len(node.events("proposed"))
    wait_for(lambda: len(node.events("proposed")) > max(20, seen + 5))


def check_going_on(checks, node):
    proposed = node.value("rchain_casper_blocks_proposed_total")
    checks.that(proposed == node.report()["height"] and proposed > 20, "it goes on proposing",
                proposed)
    page = read_page(node.page)
    wrong = [(name, value, page.get(name)) for name, value in node.report()["series"].items()
             if not name[0].endswith("_seconds_sum") and abs(page.get(name, -1) - value) > 1e-9]
    checks.that(not wrong, "it goes on measuring: everything is exported as counted", *wrong)
    checks.that(node.value(FAILED) >= 1, "failed attempts are counted", node.value(FAILED))


def check_map(checks):
    with Network(1) as network:
        node = network.start(0, "--map-size", "256k", *LOAD)
        checks.that(says("--map-size", node), "a full map is explained", node.said())
        proposes(node)
        checks.that(network.stop_all() == [0], "the node stops as ever", node.said())
        told = node.said()
        checks.that(all(word in told for word in ("could not store block", "data-0", "MDB_MAP_FULL",
                                                  "262144 bytes", "never stored")),
                    "it says what was tried, on what, what came back, what to do", told)
        checks.that(node.value(PUT, outcome="error") + node.value(SYNC, outcome="error")
                    == node.value(FAILED), "each failure is an error of its timer")
        check_going_on(checks, node)


def check_disk(checks, folder):
    """Runs inside the namespace, where `folder` is a small tmpfs."""
    ballast = folder / "ballast"
    with Network(1) as network:
        node = network.start(0, *LOAD, data=folder / "store")
        checks.that(says("could not store block", node), "a full disk is noticed", node.said())
        told = node.said()
        checks.that("mdb_txn_commit answered" in told and "bytes free: make room" in told
                    and str(folder) in told,
                    "it says what was tried, on what, what came back, what to do", told)
        proposes(node)
        ballast.unlink()
        checks.that(says("; 0 are left", node), "with space again, all that was held is stored",
                    node.said())
        checks.that(network.stop_all() == [0], "the node stops as ever", node.said())
        synced = node.value(SYNC, outcome="ok")
        checks.that(synced == node.value("rchain_casper_blocks_proposed_total"),
                    "no block was lost", synced, node.said())
        check_going_on(checks, node)


def in_namespace():
    """Called again by unshare, as root of a mount namespace."""
    folder = pathlib.Path(sys.argv[2])
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES}", "crest", folder])
    if mounted.returncode != 0:
        sys.exit(77)
    (folder / "ballast").write_bytes(bytes(TMPFS_BYTES * 3 // 4))
    checks = Checks()
    check_disk(checks, folder)
    checks.finish()


def main():
    if len(sys.argv) > 1:
        in_namespace()
    checks = Checks()
    check_map(checks)
    skipped = 0
    with Network(1) as place:
        folder = place.folder / "full"
        folder.mkdir()
        again = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", sys.executable,
                                __file__, "in-namespace", str(folder)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(again.stdout, end="")
        if again.returncode in (0, 1) and "passed," in again.stdout:
            tally = again.stdout.strip().splitlines()[-1].split()
            checks.passed += int(tally[0])
            checks.failed += int(tally[2])
        else:
            skipped = 1
            print("skipped: no small file system can be mounted here (unshare --user --mount)")
    print(f"{checks.passed} passed, {checks.failed} failed, {skipped} skipped")
    sys.exit(1 if checks.failed else 0)


main()
