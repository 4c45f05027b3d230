#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown: what a row says, and that they are put where their page has a place."""

import subprocess

import toolslib
from toolslib import Failure, command, contains, equal

from crest_catalogue import load
from crest_catalogue.make_tables import Misplaced, replace_tables, same_as_table, table

TOOL = [toolslib.TOOLS / "crest", "catalogue"]
MANIFEST = """\
manifest: 1
team: comm
prefixes: [a.comm]
about: Talking to peers.
labels:
  peer: {meaning: "who | where", bound: 1500, values: "node-0 … node-15"}
metrics:
  - {name: a.comm.sent, instrument: counter, unit: bytes, meaning: "bytes | `x`", labels: [peer],
     same-as: {kamon: k.sent, node_exporter: [n_one, n_two]}}
  - {name: a.comm.cpu, instrument: counter, unit: nanoseconds, meaning: time}
  - {name: a.comm.waiting, instrument: range-sampler, unit: bytes, meaning: now, windows: no,
     same-as: {kamon: k.waiting}}
  - {name: a.comm.level, instrument: gauge, unit: microseconds, meaning: x,
     labels: [{kind: {values: [p, q]}}, {why: {values: [r], meaning: the reason}},
              {who: {bound: 3}}]}
  - {name: a.comm.ask-time, instrument: keyed-timer, deadline: 90s, meaning: asked,
     span: "a question, by its number"}
  - {name: a.comm.soon, instrument: gauge, meaning: later, status: planned}
  - {name: a.comm.old, instrument: gauge, meaning: gone, status: lost, since: v1, last: v2,
     replaced-by: [a.comm.level, a.comm.cpu]}
  - {name: a.comm.older, instrument: gauge, meaning: gone, status: retired}
"""
ROWS = [
    "| `a.comm.sent` | counter | bytes | `peer`: who \\| where (node-0 … node-15; at most 1,500) | "
    "bytes \\| `x` | `a_comm_sent_bytes_total` |",
    "| `a.comm.cpu` | counter | ns | | time | `a_comm_cpu_seconds_total` |",
    "| `a.comm.waiting` | range sampler | bytes | | now | `a_comm_waiting_bytes` |",
    "| `a.comm.level` | gauge | µs | `kind`: `p`, `q`; `why`: the reason (`r`); `who`: at most 3 | "
    "x | `a_comm_level_seconds` |",
    "| `a.comm.ask-time` | keyed timer | s | | asked. What has not ended after 90 s is a "
    "`timeout`. **Span** of a question, by its number. | "
    "`a_comm_ask_time_seconds_{bucket,sum,count}`, `a_comm_ask_time_in_flight`, "
    "`a_comm_ask_time_oldest_seconds`, `a_comm_ask_time_stuck_seconds` |",
    "| `a.comm.soon` | gauge | | | later. **Planned**: not recorded yet. | `a_comm_soon` |",
    "| `a.comm.old` | gauge | v1 | v2 | `a.comm.level`, `a.comm.cpu` | gone |",
    "| `a.comm.older` | gauge | | | | gone |",
]
PLACE = "<!-- catalogue:comm:begin -->\n<!-- catalogue:comm:end -->\n"


def read(place):
    path = place / "comm.metrics.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    manifests, problems = load([path])
    equal(problems, [], "problems")
    return manifests[0]


def rows_say_what_the_manifest_says(place):
    text = table(read(place))
    for line in ROWS:
        contains(text, line + "\n", "table")
    equal(text.splitlines()[0], "Team `comm`, owner of `a.comm`. Talking to peers.", "first line")
    for line in text.splitlines():
        if line.startswith("|") and line.replace("\\|", "").count("|") != 7:
            raise Failure(f"not six cells: {line}")


def what_others_call_them_is_a_table(place):
    text = same_as_table(read(place))
    equal(text, "| here | kamon | node_exporter |\n| --- | --- | --- |\n"
                "| `a.comm.sent` | `k.sent` | `n_one`, `n_two` |\n"
                "| `a.comm.waiting` | `k.waiting` | |\n", "table")


def tables_are_put_in_their_places(place):
    manifest = read(place)
    page = "above\n" + PLACE + "between\n" + PLACE.replace("comm", "comm:same-as") + "below\n" \
        + "<!-- catalogue:other:begin -->\nkept\n<!-- catalogue:other:end -->\n"
    made = replace_tables(page, [manifest])
    equal(replace_tables(made, [manifest]), made, "again")
    contains(made, "above\n<!-- catalogue:comm:begin -->\nTeam `comm`")
    contains(made, "<!-- catalogue:comm:end -->\nbetween\n<!-- catalogue:comm:same-as:begin -->\n")
    contains(made, "below\n<!-- catalogue:other:begin -->\nkept\n<!-- catalogue:other:end -->\n")


def misplaced_markers_are_told(place):
    manifest = read(place)
    begin, end = PLACE.splitlines()
    for page, words in (
            ("x\n", "2:1: found no place for team comm"),
            (f"{begin}\nx\n", "3:1: found the end of the page; expected " + end),
            (f"x\n{end}\n", f"2:1: found {end}; expected a begin before it"),
            (f"{begin}\n{begin}\n{end}\n", "2:1: found <!-- catalogue:comm:begin -->; expected "
                                           "the end of comm first"),
            (f"{begin}\n<!-- catalogue:x:end -->\n", "expected the end of comm first")):
        try:
            replace_tables(page, [manifest])
        except Misplaced as found:
            contains(str(found), words)
        else:
            raise Failure(f"nothing was said of {page!r}")


def the_program_checks_and_writes(place):
    read(place)
    manifest, page = place / "comm.metrics.yaml", place / "METRICS.md"
    contains(command([*TOOL, "tables", manifest, "--into", page], 2), "there is no such file")
    page.write_text("x\n")
    contains(command([*TOOL, "tables", manifest, "--into", page], 1), f"{page}:2:1: found no place")
    page.write_text(PLACE)
    contains(command([*TOOL, "tables", manifest, "--into", page, "--check"], 1), "+| `a.comm.sent`")
    command([*TOOL, "tables", manifest, "--into", page])
    equal(command([*TOOL, "tables", manifest, "--into", page, "--check"]), "", "output")


def wrong_calls_are_refused(place):
    manifest = place / "a.metrics.yaml"
    manifest.write_text(MANIFEST)
    for text in ("10", "5 m", "soon", "0s", "", "1m1h"):
        contains(command([*TOOL, "rules", manifest, "--window", text], 2), "such as 90s")
    contains(command([*TOOL, "rules", manifest, "--window", "1h30m"]), "[1h30m]")
    contains(command([*TOOL, "rules", place], 2), "is no file")
    manifest.write_text("manifest: 2\n")
    done = subprocess.run([*TOOL, "rules", manifest], capture_output=True, check=False)
    equal((done.returncode, done.stdout), (1, b""), "what is redirected into a file")
    contains(done.stderr.decode(), "a.metrics.yaml:1:11: ")


toolslib.main([rows_say_what_the_manifest_says, what_others_call_them_is_a_table,
               tables_are_put_in_their_places, misplaced_markers_are_told,
               the_program_checks_and_writes, wrong_calls_are_refused])
