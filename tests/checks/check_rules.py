#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400 slow
"""Proves that the other checks can fail: breaks each rule once in a small tree and expects the
check to name exactly that rule, and expects nothing of the same tree unbroken."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

from checklib import CC, Rules, temporary_folder

HERE = pathlib.Path(__file__).resolve().parent
SLASHED = "// SPDX-License-Identifier: Apache-2.0\n"
JAVA = "jvm-shim/crest-jvm/src/main/java/io/crest/"
JAR = "build/jvm/crest-jvm/"  # what is planted there goes into the jar
SIDE = "bench/peers/one/side.json"
CRATES = 'source = "registry+https://github.com/rust-lang/'
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n/* For check_rules.py. */\n"

# A results file of made-up figures, and what a page shows of it.
FIGURES = """<!-- figures: bench/results/a.json targets -->
| one thread where no other number is given | median (range) | against | found | wanted |  |
| --- | --- | --- | --- | --- | --- |
| keyed timer begin + end | 7.00 ns |  | 7.00 ns | at most 9 ns | met |

Medians of 1 run of 1 round, profile p, 2001-02-03, commit c.
A processor, 1 processor; kernel k; gcc; libc.
Load 0 before, 0 after. All of it: `bench/results/a.json`.
<!-- end of figures -->
"""
RESULTS = """{"format": 1, "started": "2001-02-03", "commit": "c", "profile_name": "p",
"profile": {"runs": 1, "rounds": 1}, "load": {"before": 0, "after": 0},
"machine": {"processor": "A processor", "processors": 1, "virtual": "no", "kernel": "k",
"compiler": "gcc", "libc": "libc"}, "checks": {"compared": 1, "wrong": []},
"benchmarks": {"crest/keyed-timer/hot/1": {"unit": "ns", "runs": [[7.0]]}},
"rows": [{"id": "crest/keyed-timer/hot/1", "cost": {"median": 7.0, "min": 7.0, "max": 7.0},
"target": {"kind": "value", "value": 9}, "found": 7.0, "part": 0.8, "met": true}]}
"""

# A tree in which every rule holds.
GOOD = {
    "docs/performance.md": FIGURES,
    "bench/results/a.json": RESULTS,
    "include/crest/abi.h": SPDX + "#ifndef A\n#define A\n__attribute__((visibility(\"default\"))) "
                                  "int crest_get(void);\n#endif\n",
    "src/base/atomic.h": SPDX + "#include <ck_pr.h>\nint base_get(void);\n",
    "src/base/bottom.c": SPDX + "#include <crest/abi.h>\n#include \"base/atomic.h\"\n"
                                "static int bottom_value = 7;\n"
                                "int base_get(void)\n{\n    return bottom_value;\n}\n",
    "src/names/middle.h": SPDX + "#ifndef MIDDLE_H\n#define MIDDLE_H\n#endif\n",
    "src/names/middle.c": SPDX + "#include \"names/middle.h\"\n#include <crest/abi.h>\n"
                                 "#include \"base/atomic.h\"\n#include \"names/second.h\"\n"
                                 "int crest_get(void)\n{\n    return base_get() + second();\n}\n",
    "src/names/second.h": SPDX + "#ifndef SECOND_H\n#define SECOND_H\nint second(void);\n#endif\n",
    "src/names/second.c": SPDX + "#include \"names/second.h\"\n"
                                 "int second(void)\n{\n    return 0;\n}\n",
    "reporters/http/web.h": SPDX + "#ifndef WEB_H\n#define WEB_H\n#endif\n",
    "reporters/common/top.c": SPDX + "#include <crest/abi.h>\n#include <curl/curl.h>\n"
                              "__attribute__((visibility(\"default\"))) int crest_top(void);\n"
                              "int crest_top(void)\n{\n    return crest_get();\n}\n",
    "examples/01_use.c": SPDX + "#include <crest/abi.h>\nint main(void)\n{\n    return 0;\n}\n",
    "tests/support/x_fixture.h": SPDX + "static void looks(void)\n{\n    fixture_holds(1);\n}\n",
    "tests/unit/names/test_x.c": SPDX + "#include \"support/x_fixture.h\"\n"
                                  "static void *run(void *unused)\n{\n"
                                  "    fixture_holds(2);\n    looks();\n    return unused;\n}\n"
                                  "static void test_x(void)\n{\n    assert_true(1);\n    "
                                  "pthread_create(&thread, NULL, run, NULL);\n}\n",
    "Makefile": "VERSION := 7.8.9\n-include mk/*.mk\n.PHONY: check help help-all\ncheck:\n"
                "help help-all:\n\t@echo '  make check  What'\n"
                "\t@echo '  make help  This'\n\t@echo '  make help-all  All'\n"
                "# performance.md safety.md web.h X.java MANIFEST.MF pom.xml targets.json\n"
                "# more.h libcrest.symbols libcrest-reporters.symbols\n",
    SIDE: '{"name": "one", "text": "One.", "run": ["{build}/one"]}',
    "bench/peers/one/Cargo.toml": "[package]\n",
    "bench/peers/one/Cargo.lock": f'{CRATES}crates.io-index"\n',
    "bench/profiles/base.json": '{"sides": ["one"]}',
    "bench/targets.json": '[{"id": "one/counter/hot/2-same", "value": 1}]',
    "jvm-shim/pom.xml": "<version>7.8.9</version>\n",
    "jvm-shim/native/jvm.c": SPDX + "#include <crest/abi.h>\n__attribute__((visibility("
                                    "\"default\"))) int JNI_OnLoad(void);\n"
                                    "int JNI_OnLoad(void)\n{\n    return crest_get();\n}\n",
    JAVA + "X.java": SLASHED + "package io.crest;\nimport java.util.List;\nfinal class X {\n"
                               "    static final int ONE = 1;\n    static native int x();\n}\n",
    JAR + "META-INF/MANIFEST.MF": "Automatic-Module-Name: io.crest\n"
                                  "Enable-Native-Access: ALL-UNNAMED\n",
    JAR + "META-INF/LICENSE": "Apache-2.0\n",
    JAR + "io/crest/native/native.properties": "version=7.8.9\n",
    "docs/safety.md": "| functions | threads | handlers | cost |\n"
                      "| `crest_{get,read}` | any | yes | call |\n",
    "include/crest/more.h": SPDX + "#ifndef M\n#define M\n#include <crest/abi.h>\n"
                           "#define CREST_API\n/* Any handler. */\n"
                                   "CREST_API int crest_get(void);\n"
                                   "CREST_API int crest_read(void);\n#endif\n",
    "tests/checks/libcrest.symbols": "crest_get\n",
    "tests/checks/libcrest-reporters.symbols": "crest_top\n",
}

# check, words of the rule that breaks, file, how its text changes
BREAKS = [
    ("layering", "a room that is listed", "src/attic/old.c", lambda text: SPDX),
    ("layering", "a room that is listed", "src/loose.c", lambda text: SPDX),
    ("layering", "a room that is listed", "reporters/attic/new.c", lambda text: SPDX),
    ("layering", "say the room", "src/base/bottom.c",
     lambda text: text.replace("base/atomic.h", "atomic.h")),
    ("layering", "say the room", "src/names/middle.c",
     lambda text: text.replace("base/atomic.h", "../base/atomic.h")),
    ("layering", "include lines point", "src/base/bottom.c",
     lambda text: text + '#include "names/middle.h"\n'),
    ("layering", "include lines point", "src/names/middle.c",
     lambda text: text.replace("names/second.h", "names/third.h")),
    ("layering", "include lines point", "include/crest/abi.h",
     lambda text: text + '#include "base/atomic.h"\n'),
    ("layering", "public headers only", "examples/01_use.c",
     lambda text: text + '#include "base/atomic.h"\n'),
    ("layering", "public headers only", "reporters/common/top.c",
     lambda text: text + '#include "base/atomic.h"\n'),
    ("layering", "public headers only", "reporters/common/top.c",
     lambda text: text + '#include "http/web.h"\n'),
    ("layering", "base knows no metrics", "src/base/bottom.c",
     lambda text: text + "#include <crest/counter.h>\n"),
    ("layering", "only where they belong", "examples/01_use.c",
     lambda text: text + "#include <curl/curl.h>\n"),
    ("layering", "only where they belong", "include/crest/abi.h",
     lambda text: text + "#include <ck_ht.h>\n"),
    ("layering", "only where they belong", "src/names/second.c",
     lambda text: text + "#include <ck_pr.h>\n"),
    ("layering", "atomics", "src/names/middle.c",
     lambda text: text + "int middle_add(int *x);\nint middle_add(int *x)\n{\n"
                         "    return __atomic_add_fetch(x, 1, 0);\n}\n"),
    ("layering", "objects of an earlier room", "src/base/bottom.c",
     lambda text: text.replace("return bottom_value", "extern int second(void);\n"
                                                      "    return bottom_value + second()")),
    ("layering", "no file leads back", "src/names/second.h",
     lambda text: text.replace("int second", '#include "names/middle.h"\nint second')),
    ("layering", "no file leads back", "src/names/second.c",
     lambda text: text.replace("return 0", "extern int crest_get(void);\n"
                                           "    return crest_get()")),
    ("layering", "no file leads back", "include/crest/abi.h",
     lambda text: text + "#include <crest/more.h>\n"),
    ("layering", "libcrest needs only", "src/names/middle.c",
     lambda text: text.replace("return base_get()", "extern const char *curl_version(void);\n"
                                                    "    return base_get() + *curl_version()")),
    ("layering", "libcrest-reporters needs only", "reporters/common/top.c",
     lambda text: text.replace("return crest_get()", "extern double lgamma(double);\n    return "
                                                     "crest_get() + (int)lgamma(crest_get())")),
    ("headers", "abi.h> alone as C11", "include/crest/abi.h",
     lambda text: text.replace("(void)", "(size_t)")),
    ("headers", "abi.h> alone as C++17", "include/crest/abi.h",
     lambda text: text.replace("int crest_get", "int class; int crest_get")),
    ("headers", "abi.h> alone as C11", "include/crest/abi.h",
     lambda text: text.replace("#endif\n", "static void unused(void) {}\n#endif\n")),
    ("symbols", "libcrest.symbols lists", "tests/checks/libcrest.symbols",
     lambda text: text + "crest_gone\n"),
    ("symbols", "libcrest.symbols lists", "tests/checks/libcrest.symbols", lambda text: ""),
    ("symbols", "begin with crest_", "reporters/common/top.c",
     lambda text: text + "__attribute__((visibility(\"default\"))) int leaked;\n"),
    ("safety", "every public function", "docs/safety.md",
     lambda text: text.replace("{get,read}", "get")),
    ("safety", "every public function", "docs/safety.md",
     lambda text: text.replace("{get,read}", "{get,read,gone}")),
    ("safety", "every public function", "include/crest/more.h",
     lambda text: text + "#define CREST_MORE(x) x\n"),
    ("safety", "in its own words", "docs/safety.md", lambda text: text.replace("any", "perhaps")),
    ("safety", "the same of signal handlers", "docs/safety.md",
     lambda text: text.replace("yes", "no")),
    ("safety", "the same of signal handlers", "include/crest/more.h",
     lambda text: text.replace("Any handler", "Not for signal handlers")),
    ("tidiness", "file names", "examples/middle.c", lambda text: SPDX),
    ("tidiness", "static names", "src/names/middle.c",
     lambda text: text + "static int bottom_value(void)\n{\n    return 0;\n}\n"),
    ("tidiness", "static names", "src/names/middle.c",
     lambda text: text + "static unsigned bottom_value[4] = {0};\n"),
    ("tidiness", "one source file", "src/names/middle.c",
     lambda text: text + "static unsigned bottom_value[4] = {0};\n"),
    ("tidiness", "650 lines", "src/names/middle.c", lambda text: text + "\n" * 650 + "int x;\n"),
    ("tidiness", "100 columns", "src/names/middle.c",
     lambda text: text + "/* " + "x" * 99 + " */\n"),
    ("tidiness", "100 columns", "src/names/middle.c", lambda text: text + "\tint x;\n"),
    ("tidiness", "spaces", "src/names/middle.c", lambda text: text + "int x; \n"),
    ("tidiness", "licence", "src/names/middle.c", lambda text: text[1:]),
    ("tidiness", "licence", "src/names/middle.c",
     lambda text: text.replace("/* For check_rules.py. */\n", "")),
    ("tidiness", "licence", "jvm-shim/Y.java", lambda text: "package io.crest;\n"),
    ("tidiness", "100 columns", "jvm-shim/Y.java",
     lambda text: SLASHED + "//" + "x" * 99 + "\n"),
    ("tidiness", "file names", "jvm-shim/a/X.java", lambda text: SLASHED),
    ("tidiness", "licence", "scripts/x.sh", lambda text: "#!/bin/sh\n"),
    ("tidiness", "licence", "scripts/x", lambda text: "#!/bin/sh\n"),
    ("tidiness", "at most 256 KiB", "docs/man/x.1", lambda text: "x\n" * 140000),
    ("tidiness", "refers to every file", "src/names/alone.h", lambda text: SPDX),
    ("tidiness", "refers to every file", "docs/alone.md", lambda text: "# Alone\n"),
    ("tidiness", "refers to every file", "scripts/alone.py",
     lambda text: "# SPDX-License-Identifier: Apache-2.0\n"),
    ("tidiness", "defined once", "reporters/common/again.c",
     lambda text: SPDX + "int crest_get(void)\n{\n    return 1;\n}\n"),
    ("tidiness", "defined once", "tests/unit/names/test_again.c",
     lambda text: SPDX + "int crest_get = 1;\n"),
    ("tidiness", "left for later", "src/names/middle.c",
     lambda text: text + "/* TO" + "DO: more */\n"),
    ("thread_asserts", "functions of threads", "tests/unit/names/test_x.c",
     lambda text: text.replace("fixture_holds(", "assert_true(")),
    ("thread_asserts", "functions of threads", "tests/support/x_fixture.h",
     lambda text: text.replace("fixture_holds(", "assert_true(")),
    ("jvm", "expects CREST_ABI", JAVA + "Layout.java",
     lambda text: SLASHED + "package io.crest;\nfinal class Layout {\n"
     "    static final long[] EXPECTED = {\n        4, 12,\n    };\n}\n"),
    ("jvm", "imports nothing but the JDK", JAVA + "X.java",
     lambda text: text.replace("java.util", "org.other")),
    ("jvm", "imports nothing but the JDK", JAVA + "X.java",
     lambda text: text.replace("java.util.List", "kamon.Kamon")),
    ("jvm", "Makefile's release", "jvm-shim/pom.xml", lambda text: text.replace("9", "10")),
    ("jvm", "native methods has nothing else", JAVA + "X.java",
     lambda text: text.replace("= 1", "= List.of().size()")),
    ("jvm", "native methods has nothing else", JAVA + "X.java",
     lambda text: text.replace("{\n", "{\n    static {}\n", 1)),
    ("jvm", "libcrest and the C library only", "jvm-shim/native/jvm.c",
     lambda text: text.replace("int JNI_OnLoad(void)\n", "int crest_top(void);\n"
                                                         "int JNI_OnLoad(void)\n")
     .replace("crest_get()", "crest_top()")),
    ("jvm", "what the JVM calls", "jvm-shim/native/jvm.c",
     lambda text: text.replace("JNI_OnLoad", "Java_X_x")),
    ("jvm", "no thread-local", "jvm-shim/native/jvm.c",
     lambda text: text + "__thread int jvm_own;\n"),
    ("jvm", "every library that its table names", JAR + "io/crest/native/native.properties",
     lambda text: text + "linux-x/libgone.so=1\n"),
    ("jvm", "every library that its table names", JAR + "io/crest/native/native.properties",
     lambda text: text.replace("9", "10")),
    ("jvm", "every library that its table names", JAR + "io/crest/native/a/b.so",
     lambda text: "unknown to the table"),
    ("jvm", "jar's libcrest needs", "src/names/middle.c",
     lambda text: text.replace("return base_get()", "extern const char *curl_version(void);\n"
                                                    "    return base_get() + *curl_version()")),
    ("jvm", "manifest", JAR + "META-INF/MANIFEST.MF", lambda text: text.replace("ALL", "NO")),
    ("figures", "have figures", "docs/performance.md", lambda text: "How fast it is: very.\n"),
    ("figures", "have figures", "docs/performance.md",
     lambda text: text.replace("<!-- end of figures -->", "")),
    ("figures", "have figures", "README.md", lambda text: "# No figures\n"),
    ("figures", "those of their results", "docs/performance.md",
     lambda text: text.replace("7.00 ns |  |", "6.00 ns |  |")),
    ("figures", "those of their results", "docs/performance.md",
     lambda text: text.replace("Load 0 before", "Load 9 before")),
    ("figures", "those of their results", "docs/performance.md",
     lambda text: text.replace("<!-- end", "More.\n<!-- end")),
    ("figures", "those of their results", "docs/performance.md",
     lambda text: text.replace("a.json targets", "none.json targets")),
    ("figures", "those of their results", "docs/performance.md",
     lambda text: text.replace("a.json targets", "a.json nothing")),
    ("figures", "those of their results", "bench/results/a.json",
     lambda text: text.replace("7.0", "7.5")),
    ("figures", "at most 300,000 bytes", "bench/results/a.json",
     lambda text: text + " " * 300000 + "\n"),
    ("figures", "can be read", "bench/results/a.json", lambda text: text.replace("1,", "2,", 1)),
    ("figures", "totals were right", "bench/results/a.json",
     lambda text: text.replace('"wrong": []', '"wrong": [{"side": "s"}]')),
    ("sides", "what it must have", SIDE, lambda text: text.replace("One.", "")),
    ("sides", "what it must have", SIDE, lambda text: text.replace("{build}", "{here}")),
    ("sides", "what it must have", SIDE,
     lambda text: text.replace("]}", '], "needs": [{"command": "x"}]}')),
    ("sides", "what it must have", SIDE, lambda text: text[1:]),
    ("sides", "has its own name", "bench/peers/two/side.json",
     lambda text: '{"name": "one", "text": "One more.", "run": ["one"]}'),
    ("sides", "a profile runs it", SIDE, lambda text: text.replace('"one"', '"two"')),
    ("sides", "PEER/OPERATION", "bench/targets.json", lambda text: text.replace("/hot", "")),
    ("sides", "public registries", "bench/peers/one/Cargo.lock",
     lambda text: text.replace("github.com", "mirror.example")),
    ("sides", "are locked", "bench/peers/two/go.mod", lambda text: "module two\n"),
    ("links", "lead to files", "docs/safety.md", lambda text: text + "[a page](none.md)\n"),
    ("links", "lead to headings", "docs/safety.md",
     lambda text: text + "# One `heading`\n[there](#one-heading), [not there](#one)\n"),
    ("make", "at most 250 lines", "Makefile", lambda text: text + "# more\n" * 250),
    ("make", "fits 24 lines", "Makefile", lambda text: text.replace("What", "W" * 80)),
    ("make", "fits 24 lines", "Makefile",
     lambda text: text.replace("echo", "yes | head -n 25; echo")),
    ("make", "in make help-all", "mk/more.mk", lambda text: ".PHONY: more\nmore:\n"),
    ("make", "how to make every target", "Makefile",
     lambda text: text.replace("check:", "check: nothing-of-it")),
    ("readme", "at most 20 lines", "README.md", lambda text: "# No example\n"),
    ("readme", "as C", "README.md", lambda text: "```c\nint main(void) { return nothing; }\n```\n"),
    ("readme", "as C++", "README.md",
     lambda text: "```c\n#include <crest/abi.h>\n"
                  "int main(void) { return crest_get() != 8; }\n```\n"),
]


def build(root):
    """Objects and libraries as the Makefile would make them, without asking for its flags."""
    flags = ["-fPIC", "-w", "-fvisibility=hidden", f"-I{root}/include", f"-I{root}/src"]
    objects = {}
    for source in [*root.glob("src/*/*.c"), *root.glob("reporters/*/*.c")]:
        target = root / "build/release/obj" / source.relative_to(root).with_suffix(".o")
        target.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*CC, *flags, "-c", source, "-o", target], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            objects.setdefault(source.relative_to(root).parts[0], []).append(target)
    library = root / "build/release/lib"
    library.mkdir()
    for folder, name, uses in (("src", "libcrest", ["-lcurl"]),
                               ("reporters", "libcrest-reporters", ["-lcrest", "-lm"])):
        subprocess.run([*CC, "-shared", "-o", library / f"{name}.so", f"-L{library}",
                        f"-Wl,-soname,{name}.so.0", *objects.get(folder, []), "-Wl,--as-needed",
                        *uses], check=True)
        os.symlink(f"{name}.so", library / f"{name}.so.0")
    subprocess.run([*CC, "-shared", *flags, "-Wl,--as-needed", "-o", library / "libcrest-jvm.so",
                    *root.glob("jvm-shim/native/*.c"), f"-L{library}", "-lcrest-reporters",
                    "-lcrest"], check=True)
    build_jar(root, library / "libcrest.so")


def build_jar(root, libcrest):
    """Of what is planted for it, and libcrest, whose sum the table gets."""
    content = {path.relative_to(root / JAR): path.read_bytes()
               for path in (root / JAR).rglob("*") if path.is_file()}
    content["io/crest/native/linux-x/libcrest.so.0"] = libcrest.read_bytes()
    table = pathlib.PurePath("io/crest/native/native.properties")
    digest = hashlib.sha256(libcrest.read_bytes()).hexdigest()
    content[table] += f"linux-x/libcrest.so.0={digest}\n".encode()
    with zipfile.ZipFile(root / JAR / "crest-jvm-7.8.9.jar", "w") as jar:
        for name, data in content.items():
            jar.writestr(str(name), data)
    (root / "build/jvm/built").touch()


def broken_rules(root, check):
    """The rules that the check says are broken in the tree."""
    done = subprocess.run(
        [sys.executable, HERE / f"check_{check}.py"], check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ, CREST_ROOT=str(root), CREST_BUILD=str(root / "build/release")))
    output = done.stdout.decode()
    names = [line[5:] for line in output.splitlines() if line.startswith("FAIL ")]
    if (done.returncode == 1) != bool(names) or done.returncode not in (0, 1, 77):
        names.append(f"it exits with {done.returncode}: {output}")
    return names


def plant(root, files):
    shutil.rmtree(root, ignore_errors=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def main():
    rules = Rules()
    with temporary_folder() as folder:
        root = pathlib.Path(folder) / "tree"
        plant(root, GOOD)
        build(root)
        for check in sorted({check for check, *_ in BREAKS}):
            rule = rules.rule(f"check_{check}.py finds nothing in a good tree")
            for name in broken_rules(root, check):
                rules.broken(rule, name)
        for check, words, name, change in BREAKS:
            rule = rules.rule(f"check_{check}.py notices when broken: {words}")
            plant(root, {**GOOD, name: change(GOOD.get(name, ""))})
            if check in ("layering", "symbols", "readme", "jvm"):
                build(root)
            named = broken_rules(root, check)
            if not any(words in broken for broken in named):
                rules.broken(rule, f"a change to {name} went unnoticed; it names {named}")
    rules.finish()


if __name__ == "__main__":
    main()
