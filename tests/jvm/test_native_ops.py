#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900
"""Operations that Java begins and C ends, and the other way round: an id of any kind is the same
thing on both sides."""

import tempfile

import jvmlib

SOURCE = jvmlib.ROOT / "tests/jvm/native_ops.c"
MAIN = "io.crest.NativeOpsMain"
KINDS = 8
WANTED = [f"{kind}: OK, OK, OK, ALREADY, true, OK" for kind in range(KINDS)]
WANTED += [f"cancelled {KINDS}", f"ok {KINDS}"]


def main():
    tally = jvmlib.Tally()
    here = jvmlib.needs("built")
    with tempfile.TemporaryDirectory(prefix="crest-native-") as folder:
        library = jvmlib.native_half(SOURCE, folder)
        for jdk in here:
            status, output = jvmlib.java(jdk, MAIN, library)
            same = status == 0 and output.splitlines() == WANTED
            print(f"{'ok  ' if same else 'FAIL'} {jdk}")
            if same:
                tally.passed += 1
            else:
                tally.problem(f"{jdk}: status {status}, it is to print {WANTED}", output)
    tally.finish()


if __name__ == "__main__":
    main()
