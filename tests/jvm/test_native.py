#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Java program with native code that uses libcrest: one registry and one page for both halves,
whichever of them loads it."""

import os
import pathlib
import subprocess
import tempfile

import jvmlib

SOURCE = jvmlib.ROOT / "tests/jvm/native_counter.c"
CC = os.environ.get("CC", "gcc").split()
MAIN = "io.crest.NativeHalfMain"
WANTED = ["problem null", "seen 1000", "mixed_java_blocks_total 1000",
          "mixed_native_blocks_total 234", "mixed_both_total 1234"]


def native_half(folder):
    """Linked with the libcrest of the build, as with an installed one."""
    library = pathlib.Path(folder, "libnative_counter.so")
    libraries = jvmlib.BUILD / "lib"
    headers = jvmlib.headers()
    subprocess.run(
        [*CC, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-O2", SOURCE, "-o", library,
         f"-I{jvmlib.ROOT}/include", f"-I{headers}", f"-I{headers}/linux",
         f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcrest"], check=True)
    return library


def main():
    tally = jvmlib.Tally()
    here = jvmlib.needs("built")
    with tempfile.TemporaryDirectory(prefix="crest-native-") as folder:
        library = native_half(folder)
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
