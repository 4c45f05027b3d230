#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records in constructors and destructors, in any order, however a program is linked.

crest-test: timeout=240

order_program.cc records before all constructors, in its first and its last, in static and
thread-local C++ objects, at exit before and after the flush, and in its last destructor, which
counts. order_library.c does the like in a shared library, and in a malloc by LD_PRELOAD.
"""

import os
import pathlib
import shutil
import sys

from checklib import BUILD, CC, CXX, ROOT, Rules, command, temporary_folder

FOLDER = pathlib.Path(__file__).resolve().parent / "order"
FLAGS = ["-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include"]
SHARED = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lcrest", "-lpthread"]
ARCHIVE = [BUILD / "lib/libcrest.a", "-lck", "-lpthread"]
PROGRAM = "program: 19 steps"
LIBRARY = "library: 3 steps"

# what it is called, options, what it is linked with
WAYS = (
    ("shared", ["-O2"], SHARED),
    ("shared, unoptimised", ["-O0"], SHARED),
    ("archive", ["-O2"], ARCHIVE),
    ("archive, -no-pie", ["-O2", "-no-pie", "-fno-pie"], ARCHIVE),
    ("shared, -no-pie", ["-O2", "-no-pie", "-fno-pie"], SHARED),
    ("archive, link-time optimisation", ["-O2", "-flto"], ARCHIVE),
    ("shared, link-time optimisation", ["-O2", "-flto"], SHARED),
    ("static", ["-O2", "-static"], ARCHIVE),
)


def build(rules, rule, compiler, source, output, *options):
    status, said = command([*compiler, *FLAGS, "-o", output, FOLDER / source, *options])
    if status != 0:
        rules.broken(rule, said.strip())
    return status == 0


def run(rules, rule, program, lines, **environment):
    status, said = command(program if isinstance(program, list) else [program], timeout=300,
                           env={**os.environ, **environment})
    if status != 0 or said.splitlines() != lines:
        rules.broken(rule, f"exit status {status}: {said.strip()}")


def main():
    rules = Rules()
    compilers = [("", CXX)]
    if shutil.which("clang++") and "clang" not in CXX[0]:
        compilers.append(("clang: ", ["clang++"]))
    cpp = ["-std=gnu++17"]
    with temporary_folder() as name:
        folder = pathlib.Path(name)
        library = folder / "liborder.so"
        for prefix, compiler in compilers:
            for way, options, link in WAYS:
                if prefix and "-flto" in options:
                    continue  # asks for a linker plugin
                rule = rules.rule(f"{prefix}{way}: every record is counted")
                if build(rules, rule, [*compiler, *cpp, *options], "order_program.cc",
                         folder / "program", *link):
                    run(rules, rule, folder / "program", [PROGRAM])
        rule = rules.rule("a library's first constructor and last destructor")
        if build(rules, rule, [*CC, "-O2", "-std=gnu11", "-shared", "-fPIC"], "order_library.c",
                 library, *SHARED) and \
           build(rules, rule, [*CXX, *cpp, "-O2"], "order_program.cc", folder / "with",
                 "-Wl,--no-as-needed", library, *SHARED):
            run(rules, rule, folder / "with", [PROGRAM, LIBRARY])
        rule = rules.rule("the same by LD_PRELOAD, in a program that has the library and in one "
                          "that has not")
        if build(rules, rule, [*CXX, *cpp, "-O2"], "order_program.cc", folder / "program",
                 *SHARED):
            run(rules, rule, folder / "program", [PROGRAM, LIBRARY], LD_PRELOAD=str(library))
            run(rules, rule, "/bin/true", [LIBRARY], LD_PRELOAD=str(library))
        rule = rules.rule("a malloc that records")
        if build(rules, rule, [*CC, "-O2", "-std=gnu11", "-shared", "-fPIC", "-DORDER_MALLOC"],
                 "order_library.c", folder / "malloc.so", *SHARED):
            run(rules, rule, folder / "program", [PROGRAM, LIBRARY],
                LD_PRELOAD=str(folder / "malloc.so"))
            run(rules, rule, [sys.executable, "-c", "[str(i) * 100 for i in range(10000)]"],
                [LIBRARY], LD_PRELOAD=str(folder / "malloc.so"), PYTHONMALLOC="malloc")
    rules.finish()


if __name__ == "__main__":
    main()
