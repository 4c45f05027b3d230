#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480 sanitizers=none
"""A JVM with a state file: a host that has threads before the library is loaded. It is killed, its
figures are read, it starts again, and its totals go on.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

import harness  # noqa: E402
from harness import Failure, Skip, contains, equal  # noqa: E402
from test_jvm_push import JDKS, JavaProgram, Totals  # noqa: E402

SHM = pathlib.Path("/dev/shm")
CREST = jvmlib.ROOT / "tools/crest"


def cat(path, *words):
    done = subprocess.run([CREST, "cat", *words, path], capture_output=True, text=True, check=False,
                          timeout=harness.READY_S,
                          env={**os.environ, "CREST_LIBEXEC": str(harness.BUILD / "libexec")})
    equal(done.returncode, 0, f"the status of crest cat {words}: {done.stderr}")
    return done.stdout, done.stderr


def check(page, totals):
    for query, expected in totals.values():
        # a page has 1.0 where Prometheus says 1
        name = re.sub(r'le="(\d+)"', r'le="\1(?:\.0)?"', re.escape(query))
        found = re.search(rf"^{name} (\S+)$", page, re.M)
        if found is None:
            raise Failure(f"there is no {query} on the page:\n{page[:4000]}")
        equal(float(found.group(1)), float(expected), query)


def totals_of_a_killed_jvm_go_on(place):
    if not os.access(SHM, os.W_OK):
        raise Skip("there is no /dev/shm to write to")
    folder = tempfile.mkdtemp(prefix="crest-jvm-", dir=SHM)
    options = f"state={folder},state.name=java-node,interval=1h"
    try:
        totals = Totals()
        for life in range(3):
            program = JavaProgram(place, JDKS[-1], CREST_OPTS=options)
            program.do("start service=mine")
            totals.record(program, "platform", 4, 700 + life)
            page, said = cat(folder)
            contains(said, ": runs, last heartbeat ")
            check(page, totals)
            program.process.send_signal(signal.SIGKILL)
            program.process.wait()
            page, said = cat(folder)
            contains(said, ": was killed, last heartbeat ")
            check(page, totals)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    JDKS.extend(jvmlib.needs("built"))
    harness.main([totals_of_a_killed_jvm_go_on], servers=())


if __name__ == "__main__":
    main()
