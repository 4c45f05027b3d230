#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1300 slow
"""The JUnit tests once more, on the oldest JDK of this machine and under -Xcheck:jni, which looks
at every call between Java and C."""

import re

import jvmlib

COMPLAINT = re.compile(r"^.*(?:WARNING|FATAL ERROR) in native method.*$(?:\n\s+at .*$)*", re.M)


def main():
    jvmlib.needs("built")
    jdk = jvmlib.jdks()[0]
    run = jvmlib.junit(jdk, options=["-Xcheck:jni"], title=f"{jdk} with -Xcheck:jni")
    tally = jvmlib.Tally()
    tally.add(run)
    for complaint in sorted(set(COMPLAINT.findall(run.output))):
        tally.problem("-Xcheck:jni", complaint)
    tally.finish()


if __name__ == "__main__":
    main()
