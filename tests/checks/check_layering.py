#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the direction of dependencies: include <- the rooms of src/, bottom to top (rooms.py) <-
the rooms of reporters/ <- everything else; and keeps files from leading back to themselves.

It looks at include lines, and then at the symbols of the compiled objects and libraries, because a
declaration repeated by hand would get past the first. With --list it prints every arrow that is
wrong and every circle, whole.
"""

import re
import sys

from checklib import BUILD, ROOT, Rules, C_SUFFIXES, command, read, tree, without_comments
from rooms import REPORTERS_MAY_USE, SRC_RANK

# The public headers that base may see: those that know no metric.
BASE_MAY_INCLUDE = {"abi.h", "clock.h", "status.h"}

# What may be named with quotes by files that stand outside src/ and reporters/.
OUTSIDE = ("include", "jvm-shim", "examples", "tests", "bench", "tools")

ONLY_IN = [
    # (what an include names, which folders may name it, why)
    (re.compile(r"curl/|microhttpd"), ("reporters", "tests/faults"),
     "HTTP lives in reporters/ and nowhere else"),
    (re.compile(r"ck_pr\.h"), ("src/base",), "atomics go through src/base/atomic.h"),
    (re.compile(r"ck_"), ("src", "tests/faults"), "users need no ck headers"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LIBC = re.compile(r"@GLIBC_|^(_ITM_\w+|__gmon_start__|__cxa_finalize|__tls_get_addr)")
NEEDED_BY_CREST = {"libck.so.0", "libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2",
                   "ld-linux-aarch64.so.1"}
NEEDED_BY_REPORTERS = {"libcrest.so.0", "libcurl.so.4", "libmicrohttpd.so.12", "libz.so.1",
                       "libc.so.6", "libpthread.so.0"}

SPELLED = "includes of src and reporters say the room"
DIRECTION = "include lines point from later rooms to earlier ones"
PUBLIC = "reporters, examples, bench and tools include public headers only"
BASE = "src/base knows no metrics"
OWNERS = "curl, microhttpd and ck are included only where they belong"
ATOMICS = "atomics in src and reporters go through src/base/atomic.h"
OBJECTS = "objects of an earlier room need nothing of a later one"
CIRCLES = "no file leads back to itself"
ROOMS = "every file of src and reporters stands in a room that is listed"
CREST_LIBRARY = "libcrest needs only ck and the C library"
REPORTERS_LIBRARY = "libcrest-reporters needs only libcrest, HTTP, zlib and the C library"


def room_of(name):
    """(folder of the tree, room) of a file; the room is "" for a file that stands in no room."""
    return name.parts[0], name.parts[1] if len(name.parts) > 2 else ""


def may_see(using, used):
    """Whether a file of the place `using` may use one of the place `used`."""
    (folder, room), (used_folder, used_room) = using, used
    if folder == "tests":
        return used_folder in ("src", "reporters", "tests", "examples")
    if folder == "src":
        return used_folder == "src" and SRC_RANK.get(used_room, 99) <= SRC_RANK.get(room, -1)
    if folder == "reporters":
        return used_folder == "reporters" and (
            room in ("", used_room) or not used_room or
            used_room in REPORTERS_MAY_USE.get(room, ()))
    return used_folder == folder


def node_of(name):
    """The file pair that a file belongs to: src/cells/shards for both shards.c and shards.h."""
    return str(name.with_suffix(""))


class Arrows:
    """Which file pair uses which, and one place where it says so."""

    def __init__(self):
        self.places = {}

    def add(self, using, used, where):
        if using != used:
            self.places.setdefault((using, used), where)

    def circles(self):
        """The sets of file pairs each of which leads to each other, by Tarjan."""
        uses = {}
        for using, used in self.places:
            uses.setdefault(using, []).append(used)
        index, low, stack, found = {}, {}, [], []

        def visit(node):
            index[node] = low[node] = len(index)
            stack.append(node)
            for used in uses.get(node, ()):
                if used not in index:
                    visit(used)
                    low[node] = min(low[node], low[used])
                elif used in stack:
                    low[node] = min(low[node], index[used])
            if low[node] == index[node]:
                circle = stack[stack.index(node):]
                del stack[stack.index(node):]
                if len(circle) > 1:
                    found.append(sorted(circle))

        sys.setrecursionlimit(10000)
        for node in sorted(uses):
            if node not in index:
                visit(node)
        return found

    def shortest(self, circle):
        """One way around through the circle's first file, as places."""
        first = circle[0]
        ways, seen = [[first]], set()
        while ways:
            way = ways.pop(0)
            for using, used in sorted(self.places):
                if using == way[-1] and used in circle:
                    if used == first:
                        return [*way, first]
                    if used not in seen:
                        seen.add(used)
                        ways.append([*way, used])
        return circle


def check_includes(rules, arrows):
    names = [name for name in tree() if name.suffix in C_SUFFIXES
             and name.parts[0] in ("src", "reporters", *OUTSIDE)]
    known = set(names)
    for name in names:
        text = without_comments(read(name))
        place = room_of(name)
        if place[0] == "src" and place[1] not in SRC_RANK or \
                place[0] == "reporters" and place[1] not in {"", *REPORTERS_MAY_USE}:
            rules.broken(ROOMS, f"{name}: tests/checks/rooms.py has no room {place[1]!r}")
        for match in INCLUDE.finditer(text):
            where = f"{name}:{text.count(chr(10), 0, match.start() + 1) + 1}"
            check_include(rules, arrows, known, name, where, *match.groups())
        if place[0] in ("src", "reporters") and name.name != "atomic.h":
            for number, line in enumerate(text.split("\n"), 1):
                if re.search(r"\b(__atomic_\w+|__sync_\w+|stdatomic\.h)", line):
                    rules.broken(ATOMICS, f"{name}:{number}: {line.strip()}")


def check_include(rules, arrows, known, name, where, bracket, header):
    folder, room = room_of(name)
    for pattern, places, why in ONLY_IN:
        if pattern.match(header):
            if folder not in places and f"{folder}/{room}" not in places:
                rules.broken(OWNERS, f"{where}: <{header}>: {why}")
            break
    if header.startswith("crest/"):
        if (folder, room) == ("src", "base") and header[len("crest/"):] not in BASE_MAY_INCLUDE:
            rules.broken(BASE, f"{where}: <{header}> is not one of {sorted(BASE_MAY_INCLUDE)}")
        if folder == "include":
            arrows.add(node_of(name), f"include/{header[:-len('.h')]}", where)
        return
    if bracket == "<":
        return
    target = target_of(known, name, header)
    if target is None:
        rules.broken(DIRECTION, f'{where}: "{header}" is no file of the tree')
        return
    if folder in ("src", "reporters"):
        if str(target) != f"{folder}/{header}":
            rules.broken(SPELLED, f'{where}: "{header}" is {target}')
        arrows.add(node_of(name), node_of(target), where)
    if not may_see((folder, room), room_of(target)):
        rule = DIRECTION if folder in ("src", "include") else PUBLIC
        rules.broken(rule, f'{where}: "{header}" is in {target.parent}/, '
                           f"which {name.parent}/ does not see")


def target_of(known, name, header):
    """The file that a quoted include names: looked for as the compiler does, else by its path."""
    beside = (ROOT / name.parent / header).resolve()
    for path in (beside, *(ROOT / folder / header for folder in ("src", "reporters", "tests"))):
        if path.is_file() and path.is_relative_to(ROOT):
            return path.relative_to(ROOT)
    return next((other for other in sorted(known) if other.name == header.rsplit("/", 1)[-1]), None)


def symbols(paths, undefined):
    """Names of the global symbols that objects or archives define, or need: a set for each path, by
    one call of nm."""
    which = "--undefined-only" if undefined else "--defined-only"
    _, output = command(["nm", "-A", "-g", "-P", which, *paths])
    found = {path: set() for path in paths}
    by_text = {str(path): names for path, names in found.items()}
    for line in output.splitlines():
        place, _, symbol = line.partition(": ")
        names = by_text.get(place.partition("[")[0])
        if names is not None and " " in symbol:
            names.add(symbol.split()[0])
    return found


def check_objects(rules, arrows):
    objects = []
    for name in tree():
        path = BUILD / "obj" / name.with_suffix(".o")
        if name.suffix == ".c" and name.parts[0] in ("src", "reporters") and path.exists():
            objects.append((name, path))
    if not objects:
        rules.broken(OBJECTS, f"there are no objects in {BUILD}/obj")
    paths = [path for _, path in objects]
    defined, needed = symbols(paths, False), symbols(paths, True)
    owner = {symbol: name for name, path in objects for symbol in defined[path]}
    for name, path in objects:
        for symbol in sorted(needed[path]):
            used = owner.get(symbol)
            if used is None or name.parts[0] == "reporters" and used.parts[0] == "src":
                continue
            arrows.add(node_of(name), node_of(used), f"{name}: {symbol}")
            if not may_see(room_of(name), room_of(used)):
                rules.broken(OBJECTS, f"{name} needs {symbol} of {used}")


def check_circles(rules, arrows):
    for circle in arrows.circles():
        way = arrows.shortest(circle)
        steps = [f"{using} -> {used} ({arrows.places[using, used]})"
                 for using, used in zip(way, way[1:]) if (using, used) in arrows.places]
        rules.broken(CIRCLES, f"{len(circle)} files: {' '.join(circle)}")
        rules.broken(CIRCLES, "  one way around: " + "; ".join(steps))


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
    for rule in (ROOMS, SPELLED, DIRECTION, PUBLIC, BASE, OWNERS, ATOMICS, OBJECTS, CIRCLES,
                 CREST_LIBRARY, REPORTERS_LIBRARY):
        rules.rule(rule)
    arrows = Arrows()
    check_includes(rules, arrows)
    check_objects(rules, arrows)
    check_circles(rules, arrows)
    check_library(rules, CREST_LIBRARY, "libcrest.so", NEEDED_BY_CREST, ("ck_",))
    check_library(rules, REPORTERS_LIBRARY, "libcrest-reporters.so", NEEDED_BY_REPORTERS,
                  ("crest_", "curl_", "MHD_", "deflate", "inflate", "crc32", "zlib", "compress"))
    if "--list" in sys.argv:
        for rule, problems in rules.problems.items():
            print(f"{len(problems):4} {rule}", *problems, sep="\n     ")
    rules.finish()


if __name__ == "__main__":
    main()
