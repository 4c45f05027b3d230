#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone, twice in a row, as C99, C11 and C++17, without a warning; the
classes of *.hpp as C++17 and C++20."""

import shutil

from checklib import CC, CXX, ROOT, Rules, command

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]
LANGUAGES = [
    # (what it is, compiler, options)
    ("C99", CC, ["-x", "c", "-std=c99", "-pedantic", "-Wstrict-prototypes"]),
    ("C11", CC, ["-x", "c", "-std=c11", "-Wstrict-prototypes", "-Wmissing-prototypes"]),
    ("gnu11", CC, ["-x", "c", "-std=gnu11", "-Wstrict-prototypes", "-Wmissing-prototypes"]),
    ("C++17", CXX, ["-x", "c++", "-std=c++17"]),
]
CPP_ONLY = ("C++20", CXX, ["-x", "c++", "-std=c++20"])  # what *.hpp are tried as, besides

# Forms of a source file that must not warn either, beside the header alone.
FORMS = [
    ("a source and no call", "crest/by_name.h", 'CREST_SOURCE("a.b");\n'),
    ("a source and calls", "crest/by_name.h",
     '#define PARENT "a"\nCREST_SOURCE_IN(PARENT, "b");\nvoid count(const char *name);\n'
     'void count(const char *name)\n{\n    crest_increment_counter("c");\n'
     "    crest_increment_counter(name);\n}\n"),
    ("calls and no source", "crest/by_name.h",
     'void count(const char *name);\nvoid count(const char *name)\n{\n'
     '    crest_set_gauge("c", 1);\n    crest_record(name, 2);\n}\n'),
]


def main():
    languages = list(LANGUAGES)
    if shutil.which("clang") and CC != ["clang"]:
        languages += [("C99 with clang", ["clang"], LANGUAGES[0][2]),
                      ("C11 with clang", ["clang"], LANGUAGES[1][2])]
        # Debian's clang is a C++ compiler only where a C++ library is installed for it.
        probe = ["clang++", "-x", "c++", "-fsyntax-only", "-"]
        if command(probe, input=b"#include <atomic>\n")[0] == 0:
            languages += [("C++17 with clang", ["clang++"], LANGUAGES[3][2])]
    headers = sorted((ROOT / "include/crest").glob("*.h*"))
    rules = Rules()
    if not headers:
        rules.broken("there are public headers", "include/crest/*.h: none")
    forms = [("alone", f"crest/{header.name}", "extern int crest_nothing_else;\n")
             for header in headers]
    forms += [form for form in FORMS if (ROOT / "include" / form[1]).exists()]
    for form, header, rest in forms:
        classes = header.endswith(".hpp")
        for language, compiler, options in languages + [CPP_ONLY] * classes:
            if classes and not language.startswith("C++"):
                continue
            rule = rules.rule(f"<{header}> {form} as {language}")
            source = f"#include <{header}>\n" * 2 + rest
            status, output = command(
                [*compiler, *options, *WARNINGS, f"-I{ROOT}/include", "-c", "-o", "/dev/null", "-"],
                input=source.encode())
            if status != 0:
                rules.broken(rule, output.strip())
    rules.finish()


if __name__ == "__main__":
    main()
