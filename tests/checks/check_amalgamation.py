#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600 sanitizers=none slow
"""Makes the library's few files, compiles each by one call, and uses them as docs/embedding.md
says: consumer.c in C and in C++ with reporters in it, unit tests of the tree linked with them
instead of the tree's archives, and two copies in one process."""

import pathlib
import re
import shlex
import shutil
import os

from checklib import BUILD, CC, CXX, ROOT, Rules, command, temporary_folder

CONSUMER = ROOT / "tests/checks/consumer.c"
UNIT_ROOMS = ("cells", "distributions", "metrics", "registry", "snapshot", "page", "tracing")
FILES = ("crest", "crest_reporters", "crest_ffi")
# a third of the time where seventy tests are linked
QUICK = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []
LIBRARIES = ["-lcurl", "-lmicrohttpd", "-lz", "-lck", "-lpthread", "-lm"]
COMPILES = "each file compiles by one call, without a warning"
RUNS = "a {} program with the files in it runs, and has the reporters"
UNITS = "unit tests of the tree pass with the files instead of the archives"
COPIES = "two copies in one process count for themselves"
HIDDEN = "the files' own functions are hidden"

HOST = r"""#include "crest.h"
#include <dlfcn.h>
#include <stdio.h>
CREST_COUNTER(mine, "copies.host", "Counted by the host.");
int main(int count, char **arguments)
{
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    unsigned long (*run)(void) = library ? (unsigned long (*)(void))dlsym(library, "run") : NULL;
    crest_counter_add(&mine, 5);
    if (run == NULL || run() != 7 || crest_counter_value(&mine) != 5) {
        fprintf(stderr, "%s\n", run ? "a copy counts wrongly" : dlerror());
        return 1;
    }
    return 0;
}
"""
PLUGIN = r"""#include "crest.h"
CREST_COUNTER(mine, "copies.plugin", "Counted by the plugin.");
__attribute__((visibility("default"))) unsigned long run(void);
unsigned long run(void)
{
    crest_counter_add(&mine, 7);
    return crest_counter_value(&mine);
}
"""


def run(rules, rule, arguments, **settings):
    status, output = command([str(word) for word in arguments], **settings)
    if status != 0 or (rule == COMPILES and output.strip()):
        rules.broken(rule, f"exit status {status} of {arguments[0]}: {output.strip()[-1500:]}")
    return status == 0


def check_consumers(rules, place, objects):
    text = re.sub(r"#include <crest/\w+\.h>\n", "", CONSUMER.read_text())
    (place / "node.c").write_text('#define WITH_REPORTERS\n#include "crest.h"\n' + text)
    for language, compiler in (("C", [*CC, "-std=c11"]),
                               ("C++", [*CXX, "-x", "c++", "-std=c++17"])):
        rule = rules.rule(RUNS.format(language))
        if run(rules, rule, [*compiler, "-Wall", "-Wextra", "-Werror", f"-I{place}",
                             place / "node.c", "-x", "none", "-o", place / "node",
                             *objects, *LIBRARIES]):
            run(rules, rule, [place / "node"])


def check_units(rules, place, objects):
    tests = [path for room in UNIT_ROOMS
             for path in sorted((BUILD / "obj/tests/unit" / room).glob("test_*.o"))]
    if len(tests) < 20:
        rules.broken(UNITS, f"only {len(tests)} are built: {tests}")
    for test in tests:
        if run(rules, UNITS, [*CXX, *QUICK, test, "-o", place / "unit", *objects, *LIBRARIES,
                              "-lcmocka", "-ldl"]):
            run(rules, UNITS, [place / "unit"], cwd=ROOT)


def check_copies(rules, place):
    (place / "host.c").write_text(HOST)
    (place / "plugin.c").write_text(PLUGIN)
    shared = [*CC, f"-I{place}", "-O0", "-fPIC"]
    plugin = place / "plugin.so"
    if run(rules, COPIES, [*shared, "-shared", "-fvisibility=hidden", "-Wl,-z,nodelete",
                           "-Wl,-Bsymbolic", place / "plugin.c", place / "crest.o",
                           "-o", plugin, "-lck", "-lpthread"]) and \
       run(rules, COPIES, [*shared, "-rdynamic", place / "host.c", place / "crest.o", "-o",
                           place / "host", "-lck", "-lpthread", "-ldl"]):
        run(rules, COPIES, [place / "host", plugin])


def check_hidden(rules, place):
    _, symbols = command(["readelf", "-Ws", str(place / "crest.o")])
    shown = {row.split()[7] for row in symbols.splitlines()
             if " GLOBAL " in row and " DEFAULT " in row and " UND " not in row}
    allowed = set((ROOT / "tests/checks/libcrest.symbols").read_text().split())
    if not shown or shown - allowed:
        rules.broken(HIDDEN, f"shown: {sorted(shown - allowed)}")


def main():
    rules = Rules()
    for rule in (COMPILES, HIDDEN, UNITS, COPIES):
        rules.rule(rule)
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
    with temporary_folder() as folder:
        place = pathlib.Path(folder)
        status, version = command(["make", "-s", "-C", ROOT, "--no-print-directory",
                                   "print-VERSION"])
        status, output = command([ROOT / "scripts/amalgamate", place, "--version",
                                  version.strip(), "--twins", ROOT / "build/include"])
        if status != 0:
            rules.broken(COMPILES, f"scripts/amalgamate: {output} {settings}")
            rules.finish()
        for name in FILES:
            run(rules, COMPILES, [*CC, "-std=c11", "-O0", "-fPIC", "-Wall", "-Wextra", f"-I{place}",
                                  "-c", place / f"{name}.c", "-o", place / f"{name}.o"])
        objects = [place / "crest_reporters.o", place / "crest.o"]
        check_hidden(rules, place)
        check_consumers(rules, place, objects)
        check_units(rules, place, objects)
        check_copies(rules, place)
    rules.finish()


if __name__ == "__main__":
    main()
