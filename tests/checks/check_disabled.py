#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With CREST_DISABLE the same sources compile without a warning, link without the library, run, and
have nothing left of what only records.

The headers, a program that uses every way to declare and to record, the examples and the node are
compiled as C, the first two as C++ too. What could pass for nothing is also tried with the library,
where the same looks must find something.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys

from checklib import CC, CXX, ROOT, TWINS, Rules, command, skip, temporary_folder

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]
C = [*CC, "-x", "c", "-std=gnu11", "-Wstrict-prototypes", "-Wmissing-prototypes"]
STRICT_C = [*CC, "-x", "c", "-std=c11", "-Wstrict-prototypes", "-Wmissing-prototypes"]
CPP = [*CXX, "-x", "c++", "-std=gnu++17"]
OFF = ["-DCREST_DISABLE", f"-I{ROOT}/include", f"-I{TWINS}"]
ON = [f"-I{ROOT}/include"]
NODE_BLOCKS = 20

CURRENT = "build/include is what scripts/make-off makes of the headers, and not in the tree"
NOTICED = "make-off sees a new function, and a header that does not include its twin"
ALONE = "every header compiles alone with CREST_DISABLE"
EVERY = "every public function is there with CREST_DISABLE, and none needs the library"
USES = "a program that uses every macro compiles, runs and links without the library"
NOTHING = "nothing is left of functions that only record"
SOMETHING = "the same look finds the code that they have with the library"
EXAMPLES = "the examples and the node compile and link without the library"
NODE = "the node runs without the library, and does its work"

# What else nm shows of the library: the zeros of crest_nothing_ where a pointer to them is kept,
# and functions that do something but were not inlined.
LEFT = re.compile(r" [a-zA-Z] (crest_\w+)")
MAY_STAY = re.compile(r"[tb] (crest_nothing_|crest_(off|op|error|probe_read|timed|mutex)\w*)")


def compiled(folder, compiler, options, sources, name, *libraries):
    program = pathlib.Path(folder) / name
    status, output = command([*compiler, "-O2", *WARNINGS, *options, *sources, "-x", "none",
                              "-o", program, *libraries])
    return (program, "") if status == 0 else (None, output.strip())


def check_twins(rules, folder):
    made = pathlib.Path(folder) / "off"
    status, output = command([ROOT / "scripts/make-off", made])
    if status != 0:
        rules.broken(CURRENT, output.strip())
    status, output = command(["diff", "-r", made, TWINS / "crest/off"])
    if status != 0:
        rules.broken(CURRENT, output.strip())
    if (ROOT / "include/crest/off").exists():
        rules.broken(CURRENT, "there is include/crest/off, which the compiler would find first")
    copy = pathlib.Path(folder) / "copy"
    shutil.copytree(ROOT / "include", copy / "include")
    shutil.copytree(ROOT / "scripts", copy / "scripts")
    header = copy / "include/crest/counter.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(text.replace("CREST_END_C", "CREST_API int crest_new(int a);\nCREST_END_C"),
                      encoding="utf-8")
    status, output = command([copy / "scripts/make-off", copy / "off"])
    twin = (copy / "off/counter_off.h").read_text(encoding="utf-8")
    wanted = "CREST_INLINE int crest_new(int a)\n{\n    (void)a;\n    return 0;\n}"
    if status != 0 or wanted not in twin:
        rules.broken(NOTICED, f"exit status {status}: {output.strip()}")
    header.write_text(text.replace("crest/off/counter", "crest/off/counters"), encoding="utf-8")
    status, output = command([copy / "scripts/make-off", copy / "off"])
    if status == 0 or "counter.h lacks" not in output:
        rules.broken(NOTICED, f"exit status {status}: {output.strip()}")


def check_headers(rules):
    for header in sorted((ROOT / "include/crest").glob("*.h*")):
        for compiler in (STRICT_C, CPP):
            if header.suffix == ".hpp" and compiler is STRICT_C:
                continue
            source = f"#include <crest/{header.name}>\n" * 2 + "extern int nothing_else;\n"
            status, output = command([*compiler, *WARNINGS, *OFF, "-c", "-o", "/dev/null", "-"],
                                     input=source.encode())
            if status != 0:
                rules.broken(ALONE, f"<crest/{header.name}> by {compiler[0]}: {output.strip()}")


def public_functions():
    """Names as the headers declare them, and those of the headers that are inlined."""
    names = set()
    for header in (ROOT / "include/crest").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
        names.update(re.findall(r"^(?:CREST_API|CREST_INLINE)\b[^;{(]*?\b(crest_\w+)\s*\(", text,
                                re.M))
    return sorted(names - {"crest_clock_read_cntvct"})


def check_every_function(rules, folder):
    headers = "".join(f"#include <crest/{path.name}>\n"
                      for path in sorted((ROOT / "include/crest").glob("*.h")))
    names = public_functions()
    if len(names) < 200:
        rules.broken(EVERY, f"only {len(names)} functions were found in the headers")
    table = ",\n".join(f"    (any)({name})" for name in names)
    source = pathlib.Path(folder) / "every.c"
    source.write_text(f"{headers}typedef void (*any)(void);\nextern any every[];\n"
                      f"any every[] = {{\n{table}}};\nint main(void)\n{{\n"
                      f"    return every[{len(names) - 1}] == every[0];\n}}\n", encoding="utf-8")
    for language, compiler in (("C", C), ("C++", CPP)):
        program, output = compiled(folder, compiler, [*OFF, "-Wno-cast-function-type"], [source],
                                   f"every-{language}", "-lpthread")
        if program is None:
            rules.broken(EVERY, f"{language}: {output}")


def code_of(program):
    """The instructions of each function whose name begins with off_."""
    _, output = command(["objdump", "-d", "--no-show-raw-insn", program])
    functions, lines = {}, None
    for line in output.splitlines():
        begins = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        if begins:
            lines = functions.setdefault(begins.group(1), [])
        elif lines is not None and "\t" in line:
            lines.append(line.split("\t", 1)[1].strip())
    return {name: [i for i in code if not re.match(r"(nop|cs nop|data16|xchg +%ax,%ax|endbr64)", i)]
            for name, code in functions.items() if name.startswith("off_")}


def check_program(rules, folder):
    for language, compiler in (("C", C), ("C++", CPP)):
        program, output = compiled(folder, compiler, OFF, [ROOT / "tests/checks/disabled.c"],
                                   f"disabled-{language}", "-lpthread")
        if program is None:
            rules.broken(USES, f"{language}: {output}")
            continue
        status, output = command([program])
        if status != 0:
            rules.broken(USES, f"{language}: exit status {status}: {output.strip()}")
        functions = code_of(program)
        if len(functions) < 8:
            rules.broken(NOTHING, f"{language}: only {len(functions)} functions were found")
        for name, code in functions.items():
            if [re.sub(r"\s.*", "", instruction) for instruction in code] not in (["ret"],
                                                                                  ["retq"]):
                rules.broken(NOTHING, f"{language}: {name}: " + "; ".join(code))
    library, output = compiled(folder, C, [*ON, "-c"], [ROOT / "tests/checks/disabled.c"], "on.o")
    if library is None:
        rules.broken(SOMETHING, output)
        return
    for name, code in code_of(library).items():
        if len(code) < 3:
            rules.broken(SOMETHING, f"{name}: " + "; ".join(code))
    if not LEFT.search(command(["nm", library])[1]):
        rules.broken(SOMETHING, "nm shows no crest_ symbol of it")


def check_symbols(rules, name, program):
    for line in command(["nm", program])[1].splitlines():
        found = LEFT.search(line)
        if found and not MAY_STAY.search(line):
            rules.broken(EXAMPLES, f"{name}: nm shows {line.strip()}")


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def check_examples(rules, folder):
    examples = sorted((ROOT / "examples").glob("[0-9]*.c"))
    for source in examples:
        program, output = compiled(folder, C, OFF, [source], source.stem, "-lpthread")
        if program is None:
            rules.broken(EXAMPLES, f"{source.name}: {output}")
        else:
            check_symbols(rules, source.name, program)
    if len(examples) < 20:
        rules.broken(EXAMPLES, f"only {len(examples)} examples were found")
    node = sorted((ROOT / "examples/node").glob("*.c"))
    program, output = compiled(folder, C, OFF, node, "node", "-llmdb", "-lm", "-lpthread")
    if program is None:
        rules.broken(EXAMPLES, f"the node: {output}")
        return
    check_symbols(rules, "the node", program)
    for attempt in range(5):  # another program may take the port before the node does
        done = subprocess.run(
            [str(program), "--nodes", "1", "--data", str(pathlib.Path(folder) / f"data-{attempt}"),
             "--ports", str(free_port()), "--blocks", str(NODE_BLOCKS)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, timeout=120, check=False)
        text = done.stdout.decode("utf-8", "replace")
        if done.returncode == 0 or "in use" not in text:
            break
    last = text.strip().splitlines()[-1:] or [""]
    try:
        height = json.loads(last[0])["height"]
    except (ValueError, KeyError):
        height = 0
    if done.returncode != 0 or height != NODE_BLOCKS:
        rules.broken(NODE, f"exit status {done.returncode}, height {height}: {text[-2000:]}")


def main():
    if not shutil.which("objdump"):
        skip("objdump is missing (Debian: binutils)")
    rules = Rules()
    for rule in (CURRENT, NOTICED, ALONE, EVERY, USES, NOTHING, SOMETHING, EXAMPLES, NODE):
        rules.rule(rule)
    with temporary_folder() as folder:
        check_twins(rules, folder)
        check_headers(rules)
        check_every_function(rules, folder)
        check_program(rules, folder)
        check_examples(rules, folder)
    rules.finish()


if __name__ == "__main__":
    main()
