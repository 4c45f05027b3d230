#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=2500
"""The JUnit tests, with the jar as it is delivered, on the newest JDK of this machine, or on every
one with JDKS=all; test_xcheck.py has them on the oldest."""

import jvmlib


def main():
    tally = jvmlib.Tally()
    for jdk in jvmlib.needs("built"):
        tally.add(jvmlib.junit(jdk))
    tally.finish()


if __name__ == "__main__":
    main()
