#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the embedding example of README.md, its first ```c block, as C and C++."""

import pathlib
import re

from checklib import BUILD, CC, CXX, ROOT, Rules, command, skip, temporary_folder

LINES_MAX = 20
LANGUAGES = [
    ("C", "c", [*CC, "-x", "c", "-std=gnu11"]),
    ("C++", "cc", [*CXX, "-x", "c++", "-std=gnu++17"]),
]


def main():
    readme = ROOT / "README.md"
    if not readme.exists():
        skip("there is no README.md")
    rules = Rules()
    block = re.search(r"^```c\n(.*?)^```", readme.read_text(encoding="utf-8"), re.M | re.S)
    present = rules.rule(f"README.md has an embedding example of at most {LINES_MAX} lines")
    if not block:
        rules.broken(present, "there is no block that begins with ```c")
        rules.finish()
    source = block.group(1)
    if len(source.splitlines()) > LINES_MAX:
        rules.broken(present, f"it has {len(source.splitlines())} lines")
    with temporary_folder() as folder:
        for language, suffix, compiler in LANGUAGES:
            rule = rules.rule(f"the example of README.md compiles, links and runs as {language}")
            path = pathlib.Path(folder) / f"readme.{suffix}"
            path.write_text(source, encoding="utf-8")
            program = pathlib.Path(folder) / "readme"
            status, output = command(
                [*compiler, "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", path, "-x", "none",
                 "-o", program, f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib",
                 "-Wl,--no-as-needed", "-lcrest-reporters", "-lcrest"])
            if status != 0:
                rules.broken(rule, output.strip())
                continue
            status, output = command([program], timeout=60, env={"CREST_OPTS": ""})
            if status != 0:
                rules.broken(rule, f"exit status {status}: {output.strip()}")
    rules.finish()


if __name__ == "__main__":
    main()
