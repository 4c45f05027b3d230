#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300 slow
"""The core builds with musl's C library, and counts there: musl.c is linked with the core's one
file, which compiles in a third of the time that its sources take, statically and not, and run.
Concurrency Kit is what Debian has: its archive calls nothing of a C library but memory functions.
The kernel's headers and Concurrency Kit's, in which musl and glibc do not differ, are borrowed."""

import pathlib
import shutil
import sys

from checklib import ROOT, TWINS, Rules, command, skip, temporary_folder

HEADERS = pathlib.Path("/usr/include")
FLAGS = ["-std=gnu11", "-O0", "-Wall", "-Wextra", "-Werror"]


def borrow_headers(place):
    """A folder of links to those headers that musl's own folder lacks."""
    for path in [HEADERS / "linux", HEADERS / "asm-generic", HEADERS / "gcc",
                 *HEADERS.glob("*-linux-gnu/asm"), *HEADERS.glob("ck_*.h")]:
        if path.exists():
            (place / path.name).symlink_to(path)
    return place


def archive():
    found = sorted(pathlib.Path("/usr/lib").glob("*/libck.a"))
    return found[0] if found else None


def main():
    if shutil.which("musl-gcc") is None:
        skip("musl-gcc is missing (Debian: musl-tools)")
    if archive() is None:
        skip("libck.a is missing (Debian: libck-dev)")
    rules = Rules()
    with temporary_folder() as place:
        place = pathlib.Path(place)
        (place / "include").mkdir()
        compiler = ["musl-gcc", *FLAGS, f"-isystem{borrow_headers(place / 'include')}"]
        built = rules.rule("the core compiles with musl-gcc")
        status, output = command([ROOT / "scripts/amalgamate", place, "--version", "0",
                                  "--twins", TWINS])
        if status != 0:
            rules.broken(built, f"scripts/amalgamate: {output.strip()[-500:]}")
        objects = []
        for source, folder in ((place / "crest.c", place),
                               (ROOT / "tests/checks/musl.c", ROOT / "include")):
            objects.append(place / f"{source.stem}.o")
            status, output = command([*compiler, f"-I{folder}", "-c", source, "-o", objects[-1]])
            if status != 0:
                rules.broken(built, f"{source.name}: {output.strip()[:1000]}")
        for name, link in (("linked with musl's shared library", []),
                           ("linked with it statically", ["-static"])):
            rule = rules.rule(f"a program {name} counts exactly")
            program = place / "program"
            status, output = command(["musl-gcc", *link, *objects, archive(), "-o", program])
            if status == 0:
                status, output = command([program], timeout=300)
            if status != 0:
                rules.broken(rule, f"exit status {status}: {output.strip()[:1000]}")
    rules.finish()


if __name__ == "__main__":
    sys.exit(main())
