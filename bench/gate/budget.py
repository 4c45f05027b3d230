#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The instructions of each hot path, counted by callgrind, beside its budget.

    make budget            prints the table
    make budget-update     takes what was counted as the new budget, in budget.json

Counted are the instructions of the library and its user. Of other libraries only the calls are
counted, because their code depends on their version and on the processor. So the figures are exact:
one that is greater or smaller than its budget is a change of the code, and is committed with it or
undone. A budget is of one compiler, because another one makes other code.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUDGET = HERE / "budget.json"
BUILD = pathlib.Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
CC = os.environ.get("CC", "gcc").split()

# What callgrind calls it, and what the table does. Locked instructions are events of the bus.
COLUMNS = [("Ir", "instructions"), ("Bc", "branches"), ("Bi", "indirect"), ("Dr", "reads"),
           ("Dw", "writes"), ("Ge", "locked"), (None, "calls")]
NAMES = [name for _, name in COLUMNS]
# The sizes of the caches are given, or callgrind would look for the machine's. Calls through tables
# are calls of their own, because callgrind counts twice what it leaves out of the call graph. And
# threads are counted apart, because a thread that starts another has not finished its own work
# then.
VALGRIND = ["valgrind", "-q", "--tool=callgrind", "--branch-sim=yes", "--cache-sim=yes",
            "--collect-bus=yes", "--separate-threads=yes", "--skip-plt=no",
            "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
# The instructions of the dump request itself are in the functions already, and not in the sum yet.
REQUEST_COST_MAX = 12
# Constants that the budget of another -O, or of another processor's instructions, would not share.
OTHER_CODE = re.compile(r"(?<!\S)-(O(?!2\b)\S*|m\S+|fsanitize\S*|flto\S*|fprofile\S*|"
                        r"DCREST_(?!BUILD)\S*)")
WHAT_TO_DO = ("If the change is meant, run `make budget-update` and commit bench/gate/budget.json "
              "with it, with a word on why.")


class Unavailable(Exception):
    """The budget cannot be looked at here, and why."""


def output_of(arguments):
    done = subprocess.run([str(part) for part in arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]} failed:\n{done.stdout.decode()}")
    return done.stdout.decode()


def toolchain():
    """The compiler's name for the budget, such as "gcc-12.2.0 x86_64"."""
    macros = output_of([*CC, "-dM", "-E", "-x", "c", os.devnull])
    macro = dict(re.findall(r"^#define (\w+) (.*)$", macros, re.M))
    name = "clang" if "__clang__" in macro else "gcc"
    version = ".".join(macro[part] for part in (
        ["__clang_major__", "__clang_minor__", "__clang_patchlevel__"] if name == "clang" else
        ["__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"]))
    return f"{name}-{version} {'x86_64' if '__x86_64__' in macro else os.uname().machine}"


def look_for_obstacles():
    if os.uname().machine != "x86_64":
        raise Unavailable(f"there is no budget for {os.uname().machine}, only for x86_64")
    for command, package in (("valgrind", "valgrind"), ("objcopy", "binutils")):
        if shutil.which(command) is None:
            raise Unavailable(f"{command} is missing (Debian: {package})")
    if not (BUILD / "lib/libcrest.so").exists():
        raise Unavailable(f"{BUILD}/lib/libcrest.so is not there: run make")
    flags = BUILD / "flags"
    other = OTHER_CODE.search(flags.read_text(encoding="utf-8")) if flags.exists() else None
    if other is not None:
        raise Unavailable(f"the library was built with {other.group(0)}, the budget is of -O2")


def build(folder, *switches):
    """Compiles the program, as its users compile theirs, and returns its path. It finds a copy of
    the library in the folder, without what debuggers read: valgrind fails at clang's."""
    folder = pathlib.Path(folder)
    program, library = folder / "gate", folder / "libcrest.so.0"
    output_of(["objcopy", "--strip-debug", (BUILD / "lib/libcrest.so").resolve(), library])
    output_of([*CC, "-std=gnu11", "-O2", "-Wall", "-Wextra", *switches, f"-I{ROOT}/include",
               *sorted(HERE.glob("*.c")), "-o", program, library, f"-Wl,-rpath,{folder}",
               "-Wl,-z,now", "-lpthread"])
    return program


class Dump:
    """What callgrind wrote down of one path and one thread: the costs of functions, and calls."""

    LINE = re.compile(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$")

    def __init__(self, text):
        trigger = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        self.of = (trigger.group(1), re.search(r"^thread: (\d+)$", text, re.M).group(1))
        self.events = re.search(r"^events: (.*)$", text, re.M).group(1).split()
        self.total = int(re.search(r"^summary: (\d+)", text, re.M).group(1))
        self.names = {"ob": {}, "fn": {}}
        self.costs = []  # (object, function), figures
        self.calls = []  # (object, function), (object, function), times
        self.read(text)

    def read(self, text):
        here, there = {"ob": "0", "fn": "0"}, {}
        callees = False
        for line in text.split("\n"):
            found = self.LINE.match(line)
            if found:
                callee, what, number, name = found.groups()
                if name is not None:
                    self.names[what][number] = name
                (there if callee else here)[what] = number
            elif line.startswith("calls="):
                there = {**here, **there}  # without a cob= it is the same object
                self.calls.append(((here["ob"], here["fn"]), (there["ob"], there["fn"]),
                                   int(line[6:].split()[0])))
                there, callees = {}, True
            elif re.match(r"[-+*\d]", line):
                if not callees:  # what follows calls= is the callee's
                    figures = [int(number) for number in line.split()[1:]]
                    self.costs.append(((here["ob"], here["fn"]), figures))
                callees = False

    def ours(self, program):
        """A test of whether a function is in the program or in libcrest. Stubs that lead into other
        libraries callgrind puts into no object: they are ours when we call them."""
        own = {number for number, name in self.names["ob"].items()
               if name == str(program) or pathlib.PurePath(name).name.startswith("libcrest.so")}
        nowhere = {number for number, name in self.names["ob"].items() if name == "???"}
        stubs = {callee for caller, callee, _ in self.calls
                 if caller[0] in own and callee[0] in nowhere}
        return lambda function: function[0] in own or function in stubs

    def counts(self, program):
        """What our own code took, by COLUMNS."""
        ours = self.ours(program)
        wanted = [self.events.index(event) for event, _ in COLUMNS if event is not None]
        figures = [0] * len(wanted)
        for function, cost in self.costs:
            for i, at in enumerate(wanted):
                figures[i] += cost[at] if ours(function) and at < len(cost) else 0
        everything = sum(cost[0] for _, cost in self.costs)
        if not 0 <= everything - self.total <= REQUEST_COST_MAX:
            raise RuntimeError(f"callgrind counted {self.total} instructions in {self.of[0]}, but "
                               f"{everything} are in its functions")
        return figures + [sum(times for caller, callee, times in self.calls
                              if ours(caller) and not ours(callee))]


def run(program, only=None, environment=None, folder=None, wrapper=()):
    """What each path of the program takes, by name: a list in the order of COLUMNS."""
    with tempfile.TemporaryDirectory(prefix="crest-gate-") as dumps:
        done = subprocess.run(
            [*wrapper, *VALGRIND, f"--callgrind-out-file={dumps}/dump", str(program),
             *([only] if only else [])], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment, cwd=folder, check=False)
        if done.returncode == 77:
            raise Unavailable(done.stdout.decode().strip())
        if done.returncode != 0:
            raise RuntimeError(f"the gate's program failed:\n{done.stderr.decode()}")
        dumped = {}
        for path in pathlib.Path(dumps).glob("dump.*"):  # without a number: what came at the end
            dump = Dump(path.read_text(encoding="utf-8"))
            dumped[dump.of] = dump.counts(program)
    counted = {}
    for line in done.stdout.decode().splitlines():
        name, thread, less, times, each = line.split()
        if less != "-":
            counted[name] = [plain((have - took) / int(times) / int(each))
                             for have, took in zip(dumped[name, thread], dumped[less, "1"])]
    return counted


def plain(figure):
    """Whole where it is; else as many digits as make it exact for the numbers of runs there are."""
    return int(figure) if figure == int(figure) else round(figure, 4)


# ---- the budget ----

def load(path=BUDGET):
    return json.loads(path.read_text(encoding="utf-8"))


def save(budget, path=BUDGET):
    """A path a line, so that a change of one is a line in a diff."""
    text = json.dumps({key: value for key, value in budget.items() if key != "budgets"})[:-1]
    text += ', "budgets": {\n'
    for n, (compiler, paths) in enumerate(sorted(budget["budgets"].items())):
        text += (",\n" if n else "") + json.dumps(compiler) + ": {\n"
        text += ",\n".join(f"{json.dumps(name)}: {json.dumps(figures)}"
                           for name, figures in paths.items()) + "}"
    path.write_text(text + "}}\n", encoding="utf-8")
    json.loads(text + "}}")


def compare(budget, counted):
    """A sentence for each figure that is not the budget's, worse ones first, and for each path that
    is only in one of the two."""
    worse, better = [], []
    for name in sorted(set(budget) | set(counted)):
        if name not in counted:
            worse.append(f"{name}: is in the budget, and there is no such path")
        elif name not in budget:
            worse.append(f"{name}: has no budget")
        else:
            for column, may, does in zip(NAMES, budget[name], counted[name]):
                if may != does:
                    text = f"{name}: {column} {does:g}, budget {may:g}, {does - may:+g}"
                    (worse if does > may else better).append(text)
    return worse, [f"{text}: better, so `make budget-update` and commit it" for text in better]


def table(counted, budget):
    lines = ["".join([f"{'':28}"] + [f"{name:>14}" for name in NAMES])]
    for name, figures in counted.items():
        mark = "" if budget.get(name) == figures else "   is not the budget"
        lines.append("".join([f"{name:28}"] + [f"{figure:14,g}" for figure in figures]) + mark)
    return "\n".join(lines)


def main():
    try:
        look_for_obstacles()
        compiler = toolchain()
        with tempfile.TemporaryDirectory(prefix="crest-gate-") as folder:
            counted = run(build(folder))
    except Unavailable as why:
        sys.exit(f"The budget cannot be looked at here: {why}")
    budget = load()
    own = budget["budgets"].get(compiler, {})
    print(f"{compiler}, a single operation, or one of many series:")
    print(table(counted, own))
    if sys.argv[1:] == ["--update"]:
        budget["budgets"][compiler] = counted
        save(budget)
        print(f"{BUDGET.relative_to(ROOT)}: {len(counted)} paths of {compiler}")
    elif own:
        worse, better = compare(own, counted)
        print("\n".join([*worse, *better]) or "All as in the budget.")
    else:
        print(f"There is no budget of {compiler}; there are of {', '.join(budget['budgets'])}.")


if __name__ == "__main__":
    main()
