#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900
"""The Java examples, as their readers run them: each prints what its .expected says."""

import jvmlib

EXAMPLES = jvmlib.ROOT / "examples/jvm"


def main():
    tally = jvmlib.Tally()
    for jdk in jvmlib.needs("built"):
        for source in sorted(EXAMPLES.glob("*.java")):
            wanted = source.with_suffix(".expected").read_text(encoding="utf-8")
            command = [jdk.java, *jdk.options(), "-Dfile.encoding=UTF-8", "-cp", jvmlib.jar(),
                       source]
            status, output = jvmlib.bounded(command, None, jvmlib.TIMEOUT_S)
            same = status == 0 and output == wanted
            print(f"{'ok  ' if same else 'FAIL'} {jdk}: {source.name}")
            if same:
                tally.passed += 1
            else:
                tally.problem(f"{jdk}: {source.name}: status {status}, it is to print\n{wanted}",
                              output)
    tally.finish()


if __name__ == "__main__":
    main()
