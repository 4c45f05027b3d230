#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the direction of dependencies: include <- src/base <- src <- reporters <- everything else.

It looks at include lines, and then at the symbols of the compiled objects and libraries, because a
declaration repeated by hand would get past the first.
"""

import pathlib
import re

from checklib import BUILD, ROOT, Rules, C_SUFFIXES, command, read, tree, without_comments

# The public headers that base may see: those that know no metric.
BASE_MAY_INCLUDE = {"abi.h", "clock.h", "status.h"}

# Each layer, and the layers whose quoted headers it may include besides its own.
LAYERS = {
    "include": [],
    "src/base": [],
    "src/system": ["src", "src/base"],
    "src/latency": ["src", "src/base"],
    "src": ["src/base"],
    "reporters": [],
    "jvm-shim": [],
    "examples": [],
    "tests": ["src", "src/base", "src/system", "src/latency", "reporters"],
    "bench": [],
    "tools": [],
}

ONLY_IN = [
    # (what an include names, where it may be named, why)
    (re.compile(r"curl/|microhttpd"), ("reporters",), "HTTP lives in reporters/ and nowhere else"),
    (re.compile(r"ck_pr\.h"), ("src/base",), "atomics go through src/base/atomic.h"),
    (re.compile(r"ck_"), ("src", "src/base", "src/system", "src/latency"),
     "users need no ck headers"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LIBC = re.compile(r"@GLIBC_|^(_ITM_\w+|__gmon_start__|__cxa_finalize|__tls_get_addr)")
NEEDED_BY_CREST = {"libck.so.0", "libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2",
                   "ld-linux-aarch64.so.1"}
NEEDED_BY_REPORTERS = {"libcrest.so.0", "libcurl.so.4", "libmicrohttpd.so.12", "libz.so.1",
                       "libc.so.6", "libpthread.so.0"}

DIRECTION = "include lines point from later layers to earlier ones"
PUBLIC = "reporters, examples, bench and tools include public headers only"
BASE = "src/base knows no metrics"
OWNERS = "curl, microhttpd and ck are included only where they belong"
ATOMICS = "atomics in src and reporters go through src/base/atomic.h"
OBJECTS = "objects of an earlier layer need nothing of a later one"
CREST_LIBRARY = "libcrest needs only ck and the C library"
REPORTERS_LIBRARY = "libcrest-reporters needs only libcrest, HTTP, zlib and the C library"


def layer_of(name):
    """The longest layer whose folder holds the file, or None."""
    folders = [layer for layer in LAYERS if pathlib.PurePath(layer) in name.parents]
    return max(folders, key=len, default=None)


def check_includes(rules):
    sources = [name for name in tree() if name.suffix in C_SUFFIXES and layer_of(name)]
    by_name = {}
    for name in sources:
        by_name.setdefault(name.name, []).append(name)
    for name in sources:
        layer = layer_of(name)
        text = without_comments(read(name))
        for match in INCLUDE.finditer(text):
            where = f"{name}:{text.count(chr(10), 0, match.start() + 1) + 1}"
            check_include(rules, by_name, layer, name, where, *match.groups())
        if layer.startswith("src") and name.name != "atomic.h" or layer == "reporters":
            for number, line in enumerate(text.split("\n"), 1):
                if re.search(r"\b(__atomic_\w+|__sync_\w+|stdatomic\.h)", line):
                    rules.broken(ATOMICS, f"{name}:{number}: {line.strip()}")


def check_include(rules, by_name, layer, name, where, bracket, header):
    for pattern, layers, why in ONLY_IN:
        if pattern.match(header):
            if layer not in layers:
                rules.broken(OWNERS, f"{where}: <{header}>: {why}")
            break
    if header.startswith("crest/"):
        if layer == "src/base" and header[len("crest/"):] not in BASE_MAY_INCLUDE:
            rules.broken(BASE, f"{where}: <{header}> is not one of {sorted(BASE_MAY_INCLUDE)}")
        return
    if bracket == "<":
        return
    beside = name.parent / header
    elsewhere = by_name.get(pathlib.PurePath(header).name, [])
    # As the compiler looks: beside the file, then in the folders its layer is given.
    elsewhere.sort(key=lambda path: layer_of(path) not in (layer, *LAYERS[layer]))
    targets = [beside] if (ROOT / beside).is_file() else elsewhere
    if not targets:
        rules.broken(DIRECTION, f'{where}: "{header}" is no file of the tree')
        return
    target = layer_of(targets[0])
    if target != layer and target not in LAYERS[layer]:
        rule = DIRECTION if layer.startswith(("src", "include")) else PUBLIC
        rules.broken(rule, f'{where}: "{header}" is in {target}/, which {layer}/ does not see')


def symbols(path, undefined):
    """Names of the global symbols that an object or archive defines, or needs."""
    which = "--undefined-only" if undefined else "--defined-only"
    status, output = command(["nm", "-g", "-P", which, path])
    if status != 0:
        return set()
    return {line.split()[0] for line in output.splitlines() if " " in line}


def check_objects(rules):
    """Order of the layers, each with the objects built of it."""
    layers = [("src/base", "src/base/*.o"), ("src", "src/*.o"), ("src", "src/system/*.o"),
              ("src", "src/latency/*.o"), ("reporters", "reporters/*.o")]
    rank = {"src/base": 0, "src": 1, "reporters": 2}
    sources = {name.with_suffix("") for name in tree()}
    objects = [(layer, path) for layer, pattern in layers for path in (BUILD / "obj").glob(pattern)
               if path.relative_to(BUILD / "obj").with_suffix("") in sources]
    if not objects:
        rules.broken(OBJECTS, f"there are no objects in {BUILD}/obj")
    owner = {symbol: (layer, path) for layer, path in objects for symbol in symbols(path, False)}
    for layer, path in objects:
        for symbol in sorted(symbols(path, True)):
            owned_by, where = owner.get(symbol, (None, None))
            if owned_by and rank[owned_by] > rank[layer]:
                rules.broken(OBJECTS, f"{path.name} ({layer}) needs {symbol} of {where.name} "
                                      f"({owned_by})")


def check_library(rules, rule, name, may_need, may_use):
    library = BUILD / "lib" / name
    status, dynamic = command(["readelf", "-d", library])
    if status != 0:
        rules.broken(rule, f"{library} cannot be read: {dynamic.strip()}")
        return
    for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
        if needed not in may_need:
            rules.broken(rule, f"{name} needs {needed}")
    _, undefined = command(["nm", "-D", "--undefined-only", library])
    for symbol in (line.split()[-1] for line in undefined.splitlines()):
        if not LIBC.search(symbol) and not symbol.startswith(may_use):
            rules.broken(rule, f"{name} uses {symbol}")


def main():
    rules = Rules()
    for rule in (DIRECTION, PUBLIC, BASE, OWNERS, ATOMICS, OBJECTS, CREST_LIBRARY,
                 REPORTERS_LIBRARY):
        rules.rule(rule)
    check_includes(rules)
    check_objects(rules)
    check_library(rules, CREST_LIBRARY, "libcrest.so", NEEDED_BY_CREST, ("ck_",))
    check_library(rules, REPORTERS_LIBRARY, "libcrest-reporters.so", NEEDED_BY_REPORTERS,
                  ("crest_", "curl_", "MHD_", "deflate", "inflate", "crc32", "zlib", "compress"))
    rules.finish()


if __name__ == "__main__":
    main()
