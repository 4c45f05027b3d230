#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the embedding example of README.md, its first ```c block, as C and C++, and
reads its page while it runs, as README.md says."""

import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

from checklib import BUILD, CC, CXX, ROOT, Rules, command, skip, temporary_folder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import free_ports  # noqa: E402  (needs the path above)

LINES_MAX = 20
LANGUAGES = [
    ("C", "c", [*CC, "-x", "c", "-std=gnu11"]),
    ("C++", "cc", [*CXX, "-x", "c++", "-std=gnu++17"]),
]


WANTED = ("casper_deploys_accepted_total 1", 'casper_add_block_time_seconds_count{outcome="ok"} 1')
PATIENCE_S = 120  # a ceiling


def missing_lines(port, process):
    """What the page lacks; the program serves it before it has counted, and lives until its input
    has a line."""
    missing = WANTED
    end = time.monotonic() + PATIENCE_S
    while missing and process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                lines = answer.read().decode().splitlines()
            missing = [line for line in WANTED if line not in lines]
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.02)
    return missing


def runs(program):
    """What is wrong with it, or nothing."""
    port, = free_ports.take(1)
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "CREST_OPTS": f"prometheus={port}"})
    missing = missing_lines(port, process)
    output, _ = process.communicate("\n", timeout=PATIENCE_S)
    if process.returncode != 0:
        return f"exit status {process.returncode}: {output.strip()}"
    return f"its page has no line {missing[0]}" if missing else None


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
            wrong = runs(program)
            if wrong:
                rules.broken(rule, wrong)
    rules.finish()


if __name__ == "__main__":
    main()
