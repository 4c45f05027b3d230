#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every block of commands, options, rules or code in README.md, docs and the manual pages, tried.

Commands of `make` have a target, and their variables are read by the Makefile; crest lint and
crest catalogue are run in this tree and take their arguments; options are tried by
crest_options_check; PromQL, rules and scrape configurations by promtool; manifests, makefiles and
CMake files are run; C is compiled, fragments with the declarations below in front of them. What is
tried elsewhere or nowhere stands in ELSEWHERE with the reason, and has to be there.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shlex
import shutil
import textwrap

from checklib import (BUILD, CC, CXX, ROOT, Rules, command, read, skip, temporary_folder,
                      tree)

BLOCK = re.compile(r"^```(\S*)\n(.*?)^```", re.M | re.S)
# Which block, by its file and a text in it, and who tries it.
ELSEWHERE = {
    ("README.md", "#include <crest/crest.h>"): "check_readme runs it",
    ("README.md", "the contract and the inlined hot path"): "check_map draws it",
    ("README.md", "src/registry/"): "check_map draws it",
    ("docs/architecture.md", "src/registry/"): "check_map draws it",
    ("docs/contributing.md", "hit_ratio"): "test_contributing follows it",
    ("docs/contributing.md", "oneline"): "test_contributing follows it",
    ("docs/contributing.md", "parent"): "test_contributing follows it",
    ("METRICS.md", "twin-counter:"): "a part of a metric: test_lint_manifest has such",
    ("METRICS.md", "# TYPE comm_ping"): "what a page looks like: tests/golden has it",
    ("docs/architecture.md", "thread-local pointer"): "a drawing",
    ("docs/black-box.md", "the previous run (pid"): "what a start says: test_adoption reads it",
    ("docs/embedding.md", "cc node.c"): "check_install builds so, with what pkg-config says",
    ("docs/embedding.md", "crest_reporters.o"): "check_amalgamation compiles and links so",
    ("docs/embedding.md", "find_package"): "check_build_systems follows it",
    ("docs/embedding.md", "add_subdirectory"): "check_build_systems follows it",
    ("docs/embedding.md", "FetchContent"): "check_build_systems follows it",
    ("docs/embedding.md", "fallback"): "check_build_systems follows it",
    ("docs/embedding.md", "[wrap-git]"): "Meson's own; check_build_systems has a subproject",
    ("docs/hlog.md", "HISTFAAAADF42pNp"): "what a log looks like: test_hlog_readers reads such",
    ("docs/catalogue.md", "found the text 'timr'"): "what a tool says, as test_manifest has it",
    ("docs/jvm.md", "public class Node"): "test_jvm_push runs it",
    ("docs/jvm.md", "javac -cp"): "test_jvm_push runs it",
    ("docs/jvm.md", "val comm"): "Scala: test_scala has the same calls",
    ("docs/jvm.md", "Timing t ="): "fragments of Java: test_junit has the same calls",
    ("docs/jvm.md", "ExecutorService POOL"): "fragments of Java: test_jvm_spans has the same calls",
    ("docs/jvm.md", "CREST_OPTS=profile=on"): "test_jvm_profile asks so",
    ("docs/jvm.md", "import io.crest.scala"): "Scala: test_scala_spans has the same calls",
    ("docs/kamon.md", "kamon.reporters = "): "Kamon 1.x: test_scala_kamon1 has it",
    ("docs/jvm.md", "Source COMM"): "fragments of Java: test_junit has the same calls",
    ("docs/jvm.md", "Crest.stop("): "fragments of Java: test_junit has the same calls",
    ("docs/jvm-metrics.md", "JvmMetrics.start("): "fragments of Java: test_jvm_metrics has them",
    ("docs/latency.md", "01010800"): "what stamps look like: test_stamp compares",
    ("docs/native-histograms.md", "scrape_native_histograms"):
        "a setting of Prometheus 3.8, which Debian's promtool does not know",
    ("docs/native-histograms.md", "curl -H"): "test_native_histograms asks so",
    ("docs/otel.md", "receivers:"): "test_otlp_servers runs a Collector with it",
    ("docs/profiling.md", "CREST_OPTS=profile=on"): "test_profile asks so",
    ("docs/profiling.md", "-tagfocus"): "views of pprof's: test_profile has its others",
    ("docs/events.md", "CREST_EMIT(block_proposed"): "a declaration and a statement: "
                                                     "test_events has such",
    ("docs/events.md", "# node.rules"): "rules: test_event_rules has such",
    ("docs/events.md", "crest_event_reader_next"): "test_events reads so",
    ("docs/events.md", "tail --once"): "test_crest_events asks so",
    ("docs/man/crest-events.1", "tail --once"): "test_crest_events asks so",
    ("docs/man/crest-profile.1", "pidof"): "test_profile asks so",
    ("docs/scraping.md", "proxy_pass"): "test_scrape runs nginx with it",
    ("docs/scraping.md", "accept  = 9443"): "a configuration of stunnel, which no test starts",
    ("docs/tracing.md", "casper.support-time  OPEN"): "a tree: tests/tools/test_crest_op.py",
    ("docs/disable.md", "-DCREST_DISABLE"): "check_disabled compiles so",
}
# Commands by their first word.
COMMANDS_ELSEWHERE = {"java": "test_jvm_metrics", "mvn": "test_jvm_push takes the jar itself"}
# Lines of C that stand outside of functions.
DECLARES = re.compile(r"CREST_([A-Z]+|[A-Z]+_FAMILY|RANGE_SAMPLER)\(|static .*}$")
# In front of fragments of C, and around them.
FRAGMENT = """#include <crest/crest.h>
#include <crest/by_name.h>
#include <crest/peer_clock.h>
#include <crest/probe.h>
#include <crest/span.h>
#include <crest/stamp.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
extern int epoll, i;
extern struct epoll_event events[8];
extern int fd, put_message(void *connection, int what, uint64_t id);
extern void *connection;
extern uint64_t id, received_ns;
extern crest_error error;
extern crest_op op;
extern unsigned char bytes[CREST_STAMP_BYTES];
extern struct block { unsigned char hash[32]; } *block;
extern struct sender { crest_peer_clock *clock; } *sender;
extern int64_t t1, t2, t3;
enum { PING };
extern crest_timer fetch_time;
extern crest_span_context parent;
extern crest_span_key peer_key, height_key;
extern const char *peer;
extern int64_t height;
"""
# The same for C++.
CPP_FRAGMENT = """#include <crest/crest.hpp>
#include <iostream>
using namespace std::chrono_literals;
extern std::string_view peer;
extern unsigned height;
void write_block(unsigned height);
CREST_COUNTER(in_c, "docs.in-c", "Declared as in C.");
"""


def blocks():
    """(file, line, language, text) of every block."""
    pages = ["README.md", "METRICS.md", "bench/README.md", "tests/mutation/README.md"]
    pages += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))
    for page in pages:
        text = read(page)
        for match in BLOCK.finditer(text):
            yield page, text[:match.start()].count("\n") + 1, match[1], match[2]
    for path in sorted((ROOT / "docs/man").glob("*.1")):
        text = path.read_text(encoding="utf-8").replace("\\-", "-")
        start = text.index(".SH EXAMPLES")
        yield (str(path.relative_to(ROOT)), text[:start].count("\n") + 1, "sh",
               re.search(r"\.nf\n(.*?)\.fi", text[start:], re.S)[1])


class Options:
    """crest_options_check of the libraries as they are built, in a folder: it may make files."""

    def __init__(self, folder):
        self.folder = folder
        ctypes.CDLL(str(BUILD / "lib/libcrest.so"), mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL(str(BUILD / "lib/libcrest-reporters.so"))
        self.check = library.crest_options_check
        self.check.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        library.crest_option_name_add(b"jvm")  # as the shim for the JVM does

    def problem(self, text):
        """Why they are refused, or nothing."""
        error = ctypes.create_string_buffer(4096)
        with contextlib.chdir(self.folder):
            status = self.check(text.encode(), error)
        return error.raw[4:].split(b"\0")[0].decode() if status else None


class Docs:
    def __init__(self, folder):
        self.folder = folder
        self.options = Options(folder)
        self.makefile = "".join(read(name) for name in tree() if name.name == "Makefile"
                                and len(name.parts) == 1 or name.suffix == ".mk")
        promtool = ROOT / "build/servers/root/usr/bin/promtool"
        self.promtool = promtool if promtool.exists() else shutil.which("promtool")
        self.untried = set()

    # ---- each returns what is wrong, or nothing ----

    def made(self, words):
        for word in words:
            name, assigned, value = word.partition("=")
            if assigned and f"$({name})" not in self.makefile:
                return f"make reads no {name}"
            target = rf"^{re.escape(name)}( [\w-]+)*:"
            if not assigned and not re.search(target, self.makefile, re.M):
                return f"make has no target {name}"
            for option in re.findall(r"--[\w-]+", value):
                if not any(option in read(path.relative_to(ROOT))
                           for path in (ROOT / "bench").rglob("*.py")):
                    return f"bench has no option {option}"
        return None

    def tool(self, words):
        """A tool of ours, in a copy of what it reads. It takes the arguments, whatever it finds;
        nothing answers where `live` looks."""
        folder = self.folder / "tool"
        if not folder.exists():
            folder.mkdir()
            for copied in ("catalogue", "src", "include"):
                shutil.copytree(ROOT / copied, folder / copied)
            shutil.copy(ROOT / "METRICS.md", folder)
            (folder / "comm.metrics.yaml").write_text(MANIFEST, encoding="utf-8")
        status, output = command([ROOT / "tools" / words[0], *words[1:]], cwd=folder, timeout=300)
        if status == 0 or words[2] == "source" and status == 1 or \
                words[2] == "live" and re.search(r"http://\S+: cannot be fetched", output):
            return None
        return f"status {status}: {output.strip()[-600:]}"

    def shell_line(self, line):
        settings = re.match(r"CREST_OPTS='?([^' ]*)'? ", line)
        if settings:
            return self.options.problem(settings[1])
        words = shlex.split(line, comments=True)
        if "*" in line and words:
            words = [name for word in words for name in
                     (sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(word))
                      if "*" in word else [word])]
        if not words:
            return None
        if words[0] == "crest":
            return self.tool(words[:words.index("&&")] if "&&" in words else words)
        if words[0] == "make":
            return self.made(words[1:])
        if words[0] == "curl":
            known = r"http://127.0.0.1:(27378/metrics|27380/series\?search=\w+&most=\d+)"
            page = re.fullmatch(known, words[1]) if len(words) == 2 else None
            return None if page else "another page"
        if words[0].startswith("tests/mutation/"):
            status, output = command([ROOT / words[0], *words[1:]], cwd=ROOT, timeout=300)
            return f"status {status}: {output}" if status else None
        if words[0] in COMMANDS_ELSEWHERE:
            self.untried.add(words[0])
            return None
        return f"nobody tries {words[0]}"

    def sh(self, text):
        if re.match(r"[\w.]+=\S+\n", text):
            return self.option_file(text)
        text = re.sub(r"\\\n\s*", " ", text)
        for line in text.splitlines():
            problem = self.shell_line(line.strip())
            if problem:
                return f"{line}: {problem}"
        return None

    def here(self, text, content="x\n"):
        """The text with every file of /etc in this folder, where there is one."""
        def mine(path):
            made = self.folder / path[0].lstrip("/")
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(content, encoding="utf-8")
            made.chmod(0o600)
            return str(made)
        return re.sub(r"/etc/[\w./-]+", mine, text)

    def option_file(self, text):
        path = self.folder / "options.conf"
        path.write_text(self.here(text), encoding="utf-8")
        return self.options.problem(f"@{path}")

    def prometheus(self, what, text):
        if not self.promtool:
            self.untried.add("promtool")
            return None
        path = self.folder / "prometheus.yml"
        path.write_text(text, encoding="utf-8")
        status, output = command([self.promtool, "check", what, path])
        return output if status else None

    def promql(self, text):
        lines = [line.split("#")[0].strip() for line in text.splitlines()]
        rules = "".join(f"  - record: line:{number}\n    expr: {json.dumps(line)}\n"
                        for number, line in enumerate(lines) if line)
        return self.prometheus("rules", f"groups:\n- name: docs\n  rules:\n{rules}")

    def yaml(self, text):
        if text.startswith("groups:"):
            return self.prometheus("rules", text)
        if "manifest: 1" in text:
            path = self.folder / "docs.metrics.yaml"
            path.write_text(text, encoding="utf-8")
            status, output = command([ROOT / "tools/crest", "lint", "manifest", path])
            return output if status else None
        if text.startswith("- job_name"):
            text = "scrape_configs:\n" + text
        return self.prometheus("config", self.here(text, CERTIFICATE.read_text(encoding="utf-8")
                                                   if CERTIFICATE.exists() else "x\n"))

    def built(self, name, text, build):
        """A makefile or CMake file, beside a manifest: it has to make the header."""
        folder = self.folder / name
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        (folder / "comm.metrics.yaml").write_text(MANIFEST, encoding="utf-8")
        environment = {**os.environ, "PATH": f"{ROOT / 'tools'}:{os.environ['PATH']}"}
        for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            environment.pop(variable, None)
        for step in build:
            status, output = command(step, cwd=folder, env=environment)
            if status:
                return output
        return None if (folder / "comm_metrics.h").exists() else "it makes no comm_metrics.h"

    def make(self, text):
        return self.built("Makefile", text, [["make", "comm_metrics.h"], ["make", "-n", "check"]])

    def cmake(self, text):
        if shutil.which("cmake") is None:
            self.untried.add("cmake")
            return None
        head = "cmake_minimum_required(VERSION 3.18)\nproject(docs NONE)\n"
        tail = "add_custom_target(header ALL DEPENDS comm_metrics.h)\n"
        return self.built("CMakeLists.txt", head + text + tail,
                          [["cmake", "-S", ".", "-B", "made"], ["cmake", "--build", "made"]])

    def c(self, text):
        """File-scope declarations and functions in front, statements in a function."""
        text = re.sub(r"^\.\.\.(.*)$", r"/*\1 */", text, flags=re.M)
        outside, inside = [], []
        for line in text.splitlines():
            (outside if DECLARES.match(line) else inside).append(line)
        path = self.folder / "fragment.c"
        lines = [FRAGMENT, *outside, "void fragment(void);", "void fragment(void)", "{", *inside,
                 "}", ""]
        path.write_text("\n".join(lines), encoding="utf-8")
        status, output = command([*CC, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                                  f"-I{ROOT / 'include'}", path])
        return output if status else None

    def cpp(self, text):
        """Static objects in front, statements in a function; C++17 and C++20."""
        outside, inside, open_ = [], [], False
        for line in text.splitlines():
            open_ = open_ or line.startswith("static ")
            (outside if open_ else inside).append(line)
            open_ = open_ and not line.endswith(";")
        path = self.folder / "fragment.cc"
        path.write_text("\n".join([CPP_FRAGMENT, *outside, "void fragment();", "void fragment()",
                                   "{", *inside, "}", ""]), encoding="utf-8")
        for standard in ("c++17", "c++20"):
            status, output = command([*CXX, f"-std={standard}", "-Wall", "-Wextra", "-Werror",
                                      "-fsyntax-only", f"-I{ROOT / 'include'}", path])
            if status:
                return output
        return None

    def json(self, text):
        known = set().union(*(json.loads(path.read_text(encoding="utf-8"))
                              for path in (ROOT / "bench/peers").glob("*/side.json")))
        unknown = set(json.loads(text)) - known
        return f"no side.json has {', '.join(sorted(unknown))}" if unknown else None

    def plain(self, text):
        if text.startswith("include/crest/"):
            missing = [name for name in re.findall(r"^(\S+)", text, re.M)
                       if not (ROOT / name).exists()]
            return f"there is no {', '.join(missing)}" if missing else None
        options = re.match(r'kamon\.crest\.options = "(.*)"$', text.strip())
        if options:
            return self.options.problem(options[1])
        nightly = re.search(r"&& (make \w+)", text)
        return self.sh(nightly[1] if nightly else re.sub(r"   .*", "", text, flags=re.M))

    def problem(self, language, text):
        if language not in ("", "sh", "promql", "yaml", "make", "cmake", "c", "cpp", "json"):
            return "nobody tries a block of this language"
        return getattr(self, language or "plain")(text)


# What the options of a reporter need to be more than ignored, where a table has them apart.
REPORTERS = {"pushgateway": "http://localhost:9091", "statsd": "udp://127.0.0.1:8125",
             "prometheus": "27378", "influxdb": "http://127.0.0.1:8086/mydb"}


def options_of_tables(page):
    """(line, options) of each row that has some in its last column."""
    for number, line in enumerate(read(page).splitlines(), 1):
        cells = [cell.strip() for cell in line.split(" | ")]
        found = re.findall(r"`([\w.@-]+=[^`]+)`", cells[-1]) if line.startswith("| `") else []
        if found:
            yield number, found


def row_problem(docs, found):
    """All of a row's options together, with the reporters that they belong to."""
    files = {"password-file", "bearer-file"}
    found = [docs.here(option, "secret\n") if option.split("=")[0].split(".")[-1] in files
             else option for option in found]
    for kind, value in REPORTERS.items():
        if any(option.startswith(f"{kind}.") for option in found) and \
                not any(option.startswith(f"{kind}=") for option in found):
            found = [f"{kind}={value}", *found]
    return docs.options.problem(",".join(found))


MANIFEST = """manifest: 1
team: comm
prefixes: [comm]
about: Messages.
metrics:
  - name: comm.sent
    instrument: counter
    meaning: Messages sent.
"""
CERTIFICATE = ROOT / "tests/golden/certificate.pem"


def main():
    if not (BUILD / "lib/libcrest-reporters.so").exists():
        skip("there is no library")
    rules = Rules()
    used = set()
    with temporary_folder() as name:
        docs = Docs((ROOT / name).resolve())
        tried = 0
        for page, line, language, text in blocks():
            rule = rules.rule(f"what {page} says can be done")
            reason = [key for key in ELSEWHERE if key[0] == page and key[1] in text]
            used.update(reason)
            if reason:
                continue
            problem = docs.problem(language, text)
            tried += 1
            if problem:
                rules.broken(rule, f"line {line}: {textwrap.shorten(problem, 1500)}")
        rule = rules.rule("options in the tables of docs/kamon.md are options")
        rows = list(options_of_tables(pathlib.Path("docs/kamon.md")))
        for line, found in rows:
            problem = row_problem(docs, found)
            if problem:
                rules.broken(rule, f"line {line}: {problem}")
        if len(rows) < 20:
            rules.broken(rule, f"only {len(rows)} rows were found")
    rule = rules.rule("what is tried elsewhere is there")
    for key in sorted(set(ELSEWHERE) - used):
        rules.broken(rule, f"{key[0]} has no block with {key[1]!r}: {ELSEWHERE[key]}")
    print(f"{tried} blocks tried, {len(used)} elsewhere"
          + (f"; not here: {', '.join(sorted(docs.untried))}" if docs.untried else ""))
    rules.finish()


if __name__ == "__main__":
    main()
