#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600 slow
"""Builds the libraries with link-time optimisation, as distributions do, within a bound of
processor time, and links a program with the result. consumer.c asserts what it records."""

import os
import resource
import shlex
import shutil
import sys

from checklib import CC, ROOT, Rules, command, skip, temporary_folder

FLAGS = "-O2 -flto=auto"
BUILD = "build/lto"
# Without the tools, which take the archives as any program does.
TARGETS = [f"{BUILD}/lib/{name}" for name in (
    "libcrest.a", "libcrest-reporters.a", "libcrest.so", "libcrest-reporters.so")]
PROCESSOR_MOST_S = 300  # 40 to 70 s; minutes and gigabytes before


def main():
    if "gcc" not in CC[0]:
        skip(f"link-time optimisation is tried with gcc, and CC is {' '.join(CC)}")
    if not shutil.which("gcc-ar"):
        skip("gcc-ar is missing, which lists objects of link-time optimisation")
    rules = Rules()
    built = rules.rule(f"the libraries build with CFLAGS='{FLAGS}'")
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
    status, output = command(
        [os.environ.get("MAKE", "make"), "-C", ROOT, "--no-print-directory", *settings,
         "DEPS=no", f"B={BUILD}", f"CFLAGS={FLAGS}", "WERROR=1", *TARGETS])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if used.ru_utime + used.ru_stime > PROCESSOR_MOST_S:
        rules.broken(built, f"{used.ru_utime + used.ru_stime:.0f} s of processor")
    if status != 0:
        rules.broken(built, output[-2000:])
        rules.finish()
    library = ROOT / BUILD / "lib"
    consumer = ROOT / "tests/checks/consumer.c"
    with temporary_folder() as place:
        for name, link in (("the archive", [library / "libcrest.a", "-lck"]),
                           ("the shared library", [f"-L{library}", f"-Wl,-rpath,{library}",
                                                   "-lcrest"])):
            rule = rules.rule(f"a program built so links with {name} and runs")
            status, output = command([*CC, *FLAGS.split(), f"-I{ROOT}/include", consumer,
                                      *link, "-lpthread", "-o", f"{place}/consumer"])
            if status == 0:
                status, output = command([f"{place}/consumer"])
            if status != 0:
                rules.broken(rule, f"exit status {status}: {output.strip()}")
    rules.finish()


if __name__ == "__main__":
    sys.exit(main())
