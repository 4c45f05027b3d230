#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=500 slow
"""Follows docs/contributing.md to the letter in a copy of the tree: the made-up instrument,
reporter and collector build, report, and pass the checks of what a list could leave out."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import toolslib
from toolslib import BUILD, CC, ROOT, Failure, command, contains

PAGE = ROOT / "docs/contributing.md"
# "New `path`:" or "In `path` after `line`, why:", and the block that follows.
STEP = re.compile(r"^(?:New `([^`]+)`|In `([^`]+)` after `([^`]+)`)[^`]*?:\n\n```\w+\n(.*?)^```$",
                  re.M | re.S)
PROGRAM = """#include <crest/crest.h>
#include <stdio.h>
CREST_COUNTER(looks, "cache.looks", "Looks.");
CREST_COUNTER(hits, "cache.hits", "Of them, hits.");
static int print(void *context, const void *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) != length;
}
int main(int count, char **arguments)
{
    crest_error error;
    crest_hit_ratio ratio = {&looks, &hits};
    if (count != 2 || crest_start(arguments[1], &error) != CREST_OK)
        return fprintf(stderr, "%s\\n", error.message), 1;
    for (int i = 0; i < 10; i++)
        crest_hit_ratio_count(&ratio, i % 2);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL, print, NULL, NULL);
    crest_snapshot_free(snapshot);
    return crest_stop(5000, &error) == CREST_OK ? 0 : 1;
}
"""
CHECKS = ("layering", "symbols", "safety", "map", "tidiness", "lint")
# The table of what a new kind takes: its first column, and the code that asks which kind it is.
KIND_TABLE = re.compile(r"^A new \*kind\* of metric.*\n\n((?:\|.*\n)+)", re.M)
ASKS_THE_KIND = re.compile(r"(?:\bcase|[!=]=) CREST_KIND_(?!NONE|COUNT\b)")


def copy_of_the_tree(place):
    """What git tracks or would add; and of what is built the objects of the libraries and tools,
    with their times, so that make compiles what the steps change."""
    tree = place / "tree"
    shutil.copytree(ROOT, tree, symlinks=True,
                    ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    for part in ("flags", "toolchain", "obj/src", "obj/reporters", "obj/tools", "obj/pkgconfig"):
        source, target = BUILD / part, tree / BUILD.relative_to(ROOT) / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.exists():
            shutil.copy2(source, target)
    return tree


def follow(tree, text):
    """Does each step of the page; gives how many there were."""
    steps = STEP.findall(text)
    for new, changed, after, block in steps:
        path = tree / (new or changed)
        if new:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")
            continue
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [i for i, line in enumerate(lines) if line.strip().startswith(after)]
        if len(found) != 1:
            raise Failure(f"{changed} has {len(found)} lines that begin with {after}")
        lines.insert(found[0] + 1, block)
        path.write_text("".join(lines), encoding="utf-8")
    return len(steps)


def environment(tree):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return {**kept, "CREST_ROOT": str(tree), "CREST_BUILD": str(tree / BUILD.relative_to(ROOT))}


def the_lists_are_complete(place):
    tree = copy_of_the_tree(place)
    steps = follow(tree, PAGE.read_text(encoding="utf-8"))
    if steps < 11:
        raise Failure(f"the page has only {steps} steps that can be followed")
    env = environment(tree)
    command([tree / "scripts/make-map"], env=env)
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", "WERROR=1"))
    command(["make", "-j2", "-C", tree, *settings, "DEPS=no", "SAN=", "all"], env=env)
    program = place / "program"
    (place / "program.c").write_text(PROGRAM, encoding="utf-8")
    library = tree / BUILD.relative_to(ROOT) / "lib"
    command([*CC, "-Wall", "-Werror", f"-I{tree}/include", place / "program.c", "-o", program,
             f"-L{library}", f"-Wl,-rpath,{library}", "-Wl,--no-as-needed", "-lcrest-reporters",
             "-lcrest"])
    line = place / "line"
    page = command([program, f"oneline={line},system=parent"])
    for part in ("cache_looks_total 10\n", "cache_hits_total 5\n",
                 f"process_parent_number {os.getpid()}\n"):
        contains(page, part, "the page")
    contains(line.read_text(encoding="utf-8"), " series\n", "what the reporter wrote")
    for name in CHECKS:
        checked = subprocess.run([tree / f"tests/checks/check_{name}.py"], env=env, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if checked.returncode != 0:
            raise Failure(f"check_{name}.py:\n{checked.stdout}")
    command([*CC, "-DCREST_DISABLE", "-fsyntax-only", f"-I{tree}/include",
             f"-I{tree}/build/include", place / "program.c"])


def a_new_kind_has_its_places_listed(_):
    """Where the code asks for a kind stands in the table, and nothing else does."""
    table = KIND_TABLE.search(PAGE.read_text(encoding="utf-8"))
    rows = [line.split("|")[1] for line in table[1].splitlines()[2:]]
    listed = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    if len(listed) < 8:
        raise Failure(f"the table has only {listed}")
    asks = [str(source.relative_to(ROOT)) for room in ("src", "reporters")
            for source in sorted((ROOT / room).glob("**/*.[ch]"))
            if ASKS_THE_KIND.search(source.read_text(encoding="utf-8"))]
    left_out = [source for source in asks if not any(map(source.startswith, listed))]
    if left_out:
        raise Failure(f"the table of docs/contributing.md lacks {', '.join(left_out)}, which ask "
                      "for the kind of a metric: add the file or its folder to a row, or ask "
                      "metrics/metric_kinds.h instead")
    for path in listed:
        if not (ROOT / path).exists():
            raise Failure(f"the table has {path}, which is not there")
        if path.startswith(("src/", "reporters/")) and not any(map(str.startswith, asks,
                                                                   [path] * len(asks))):
            raise Failure(f"the table has {path}, where no code asks for a kind")


if __name__ == "__main__":
    toolslib.main([a_new_kind_has_its_places_listed, the_lists_are_complete])
