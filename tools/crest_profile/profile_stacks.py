# SPDX-License-Identifier: Apache-2.0
"""Folded stacks: reading them, their names, and a table of the top functions.

    stacks = read_folded("main;store;write 12")      {("main", "store", "write"): 12}
"""

import re
import shutil
import subprocess


# What XML, so a picture, cannot hold.
NO_XML = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def read_folded(text):
    """Stacks, root first, and their values; what is no line of folded text is passed over."""
    stacks = {}
    for line in text.split("\n"):  # a name may have what else ends lines in Unicode
        frames, _, value = line.rstrip("\r").rpartition(" ")
        if frames and re.fullmatch("[0-9]{1,20}", value) and int(value) > 0:
            stack = tuple(NO_XML.sub("\ufffd", frame) for frame in frames.split(";"))
            stacks[stack] = stacks.get(stack, 0) + int(value)
    return stacks


def renamed(stacks, name_of):
    made = {}
    for stack, value in stacks.items():
        key = tuple(name_of(name) for name in stack)
        made[key] = made.get(key, 0) + value
    return made


def without_addresses(stacks):
    """The same with code that has no names under that of its file: libz.so.1+0x12 as libz.so.1."""
    return renamed(stacks, lambda name: re.sub(r"\+0x[0-9a-f]+$", "", name))


def demangled(stacks):
    """The same with names of C++ and Rust as people read them, if binutils' c++filt is there."""
    names = sorted({name for stack in stacks for name in stack if re.match(r"_[ZR]", name)})
    tool = shutil.which("c++filt")
    if not names or tool is None:
        return stacks
    done = subprocess.run([tool, "-p"], input="\n".join(names), capture_output=True, text=True,
                          check=False)
    shown = done.stdout.splitlines()
    if done.returncode != 0 or len(shown) != len(names):
        return stacks
    plain = {name: text.replace(";", ":") for name, text in zip(names, shown)}
    return renamed(stacks, lambda name: plain.get(name, name))


def amount(value, unit):
    """A value as people read it."""
    if unit != "ns":
        return f"{value} {unit}"
    for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if value >= size:
            return f"{value / size:.2f} {name}"
    return f"{value} ns"


def table(stacks, lines, unit):
    """Functions by their own share, and by that of what they call."""
    total = sum(stacks.values())
    own, whole = {}, {}
    for stack, value in stacks.items():
        own[stack[-1]] = own.get(stack[-1], 0) + value
        for name in set(stack):
            whole[name] = whole.get(name, 0) + value
    text = f"{amount(total, unit)} in all\n{'self':>10} {'':>6} {'total':>10} {'':>6}\n"
    for name in sorted(own, key=lambda name: (-own[name], name))[:lines]:
        text += (f"{amount(own[name], unit):>10} {100 * own[name] / total:5.1f}% "
                 f"{amount(whole[name], unit):>10} {100 * whole[name] / total:5.1f}%  {name}\n")
    return text
