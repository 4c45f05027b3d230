#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900
"""A Java program with native code that uses libcrest: one registry and one page for both halves,
whichever of them loads it."""

import tempfile

import jvmlib

SOURCE = jvmlib.ROOT / "tests/jvm/native_counter.c"
MAIN = "io.crest.NativeHalfMain"
WANTED = ["problem null", "seen 1000", "mixed_java_blocks_total 1000",
          "mixed_native_blocks_total 234", "mixed_both_total 1234"]


def main():
    tally = jvmlib.Tally()
    here = jvmlib.needs("built")
    with tempfile.TemporaryDirectory(prefix="crest-native-") as folder:
        library = jvmlib.native_half(SOURCE, folder)
        for jdk in here:
            for order in ("first", "last"):
                title = f"{jdk}, native half {order}"
                status, output = jvmlib.java(jdk, MAIN, library, order)
                lines = output.splitlines()
                lacking = [line for line in WANTED if lines.count(line) != 1]
                print(f"{'FAIL' if status or lacking else 'ok  '} {title}")
                if status or lacking:
                    tally.problem(f"{title}: status {status}, not once on it: {lacking}", output)
                else:
                    tally.passed += 1
    tally.finish()


if __name__ == "__main__":
    main()
