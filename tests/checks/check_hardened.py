#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binaries are hardened: what the loader has resolved is read-only, nothing that is writable
can be executed, programs can be loaded anywhere, and what reads others' bytes has canaries on its
stack and checked copies. SECURITY.md says why, and what is left out.
"""

import re

from checklib import BUILD, Rules, command, skip

LIBRARIES = ("libcrest.so", "libcrest-reporters.so")
CANARY = "__stack_chk_fail"
FORTIFIED = re.compile(r"__\w+_chk$")


def text_of(*arguments):
    status, output = command(["readelf", "-W", *arguments])
    return output if status == 0 else None


def programs():
    """C programs that are installed."""
    return sorted(path for path in (BUILD / "libexec").glob("crest-*") if path.is_file())


def main():
    if command(["readelf", "--version"])[0] != 0:
        skip("there is no readelf")
    rules = Rules()
    relro = rules.rule("what is relocated is made read-only at load (RELRO, BIND_NOW)")
    stack = rules.rule("no stack and no segment is writable and executable (NX)")
    text = rules.rule("code is not relocated (no TEXTREL), and nothing says where to look for "
                      "libraries (no RPATH)")
    pie = rules.rule("programs are position-independent (PIE)")
    canary = rules.rule("the reporters and programs have canaries on their stacks, and checked "
                        "copies (-fstack-protector-strong, _FORTIFY_SOURCE)")
    libraries = [BUILD / "lib" / name for name in LIBRARIES]
    for path in (*libraries, *programs()):
        segments, dynamic = text_of("-l", path), text_of("-d", path)
        symbols = text_of("--dyn-syms", path)
        if segments is None or dynamic is None or symbols is None:
            rules.broken(relro, f"{path.name} cannot be read")
            continue
        if "GNU_RELRO" not in segments:
            rules.broken(relro, f"{path.name} has no RELRO segment")
        if not re.search(r"\bBIND_NOW\b|\bNOW\b", dynamic):
            rules.broken(relro, f"{path.name} binds lazily")
        if not re.search(r"GNU_STACK\s.*\sRW\s", segments):
            rules.broken(stack, f"{path.name}'s stack is executable, or does not say")
        if re.search(r"^\s*LOAD\s.*\sRWE\s", segments, re.M):
            rules.broken(stack, f"{path.name} has a segment that is writable and executable")
        for word in ("TEXTREL", "RPATH", "RUNPATH"):
            if word in dynamic:
                rules.broken(text, f"{path.name} has {word}")
        if path not in libraries and not re.search(r"FLAGS_1.*\bPIE\b", dynamic):
            rules.broken(pie, f"{path.name} is loaded at one address only")
        if path.name == LIBRARIES[0]:
            continue
        names = re.findall(r"\bUND\s+(\w+)", symbols)
        if CANARY not in names:
            rules.broken(canary, f"{path.name} has no canaries")
        if not any(FORTIFIED.match(name) for name in names):
            rules.broken(canary, f"{path.name} has no checked copies")
    rules.finish()


if __name__ == "__main__":
    main()
