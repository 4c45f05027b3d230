#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads and unloads plugins with metrics of their own, in programs with and without the library.

crest-test: timeout=120 sanitizers=all

plugin_host.c uses the library and lends the plugin its metrics; its threads record all the while.
plugin_late.c knows nothing of it, and its threads run before the plugin brings the library in. The
plugin is compiled as C and as C++.
"""

import os
import pathlib

from checklib import BUILD, CC, CXX, ROOT, Rules, command, temporary_folder

FOLDER = pathlib.Path(__file__).resolve().parent / "plugin"
SANITIZERS = os.environ.get("CREST_SAN", "")
SANITIZED = [f"-fsanitize={SANITIZERS}", "-fno-omit-frame-pointer"] if SANITIZERS else []
FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", *SANITIZED]
LINK = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lcrest", "-lpthread"]
C = [*CC, "-x", "c", "-std=gnu11"]
CPP = [*CXX, "-x", "c++", "-std=gnu++17"]
RUN_TIMEOUT_S = 60


def build(rules, rule, compiler, source, output, *options):
    status, said = command([*compiler, *FLAGS, FOLDER / source, "-x", "none", "-o", output,
                            *options])
    if status != 0:
        rules.broken(rule, said.strip())
    return status == 0


def run(rules, rule, *arguments):
    status, said = command(arguments, timeout=RUN_TIMEOUT_S)
    if status != 0 or said.strip() != "ok":
        rules.broken(rule, f"exit status {status}: {said.strip()}")


def main():
    rules = Rules()
    with_host = rules.rule("totals are exact whichever plugin comes and goes, C or C++")
    late = rules.rule("a plugin brings the library into a program whose threads run already")
    with temporary_folder() as name:
        folder = pathlib.Path(name)
        so = ["-shared", "-fPIC", *LINK]
        if all([build(rules, with_host, C, "plugin_host.c", folder / "host", "-rdynamic", *LINK),
                build(rules, with_host, C, "plugin_module.c", folder / "c.so", *so),
                build(rules, with_host, CPP, "plugin_module.c", folder / "cc.so", *so)]):
            run(rules, with_host, folder / "host", folder / "c.so", folder / "cc.so")
        alone = ["-DWITHOUT_HOST", *so]
        if all([build(rules, late, C, "plugin_late.c", folder / "late", "-lpthread"),
                build(rules, late, C, "plugin_module.c", folder / "alone.so", *alone),
                build(rules, late, CPP, "plugin_module.c", folder / "alone-cc.so", *alone)]):
            run(rules, late, folder / "late", folder / "alone.so")
            run(rules, late, folder / "late", folder / "alone-cc.so")
    rules.finish()


if __name__ == "__main__":
    main()
