#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1300 sanitizers=address sanitized
"""The JUnit tests with the sanitized library, which the JVM loads behind the sanitizer's runtime.

Only what is compiled for it is watched: calls that the JVM itself makes are passed over, and so are
what it allocates and does not free, and how Java hands a handle from one thread to another. The JVM
handles its own segmentation faults.

`make check` runs it with AddressSanitizer. With ThreadSanitizer, from which the JVM's own ordering
of memory is hidden, it is run by hand: after `make SAN=thread jvm`, with CREST_SAN=thread and
CREST_BUILD=build/tsan.
"""

import os
import subprocess

import jvmlib

CC = os.environ.get("CC", "gcc").split()
LIBRARY = jvmlib.BUILD / "lib/libcrest-jvm.so"
SUPPRESSIONS = jvmlib.ROOT / "tests/jvm/jvm_tsan.supp"
SIGNALS = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"
OPTIONS = {"ASAN_OPTIONS": f"{SIGNALS}:detect_leaks=0",
           "TSAN_OPTIONS": f"{SIGNALS}:ignore_noninstrumented_modules=1:report_signal_unsafe=0"}


def runtime():
    """The library that has to be there before all others."""
    if "clang" in CC[0]:
        jvmlib.skip("clang keeps the sanitizer's runtime in the program, which here is java")
    name = "libtsan.so" if "thread" in os.environ["CREST_SAN"] else "libasan.so"
    done = subprocess.run([*CC, f"-print-file-name={name}"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip()


def main():
    jdk = jvmlib.needs("classes")[-1]  # the newest: it has virtual threads
    env = dict(os.environ, LD_PRELOAD=runtime())
    for name, options in OPTIONS.items():
        env[name] = f"{env.get(name, '')}:{options}"
    env["TSAN_OPTIONS"] += f":suppressions={SUPPRESSIONS}"
    tally = jvmlib.Tally()
    tally.add(jvmlib.junit(jdk, f"{jdk} with {os.environ['CREST_SAN']}", env=env, with_jar=False,
                           options=[f"-Dcrest.library={LIBRARY}"]))
    tally.finish()


if __name__ == "__main__":
    main()
