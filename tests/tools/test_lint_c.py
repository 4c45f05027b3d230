#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400
"""`crest lint source` over C and C++: each way to name a metric is understood, each rule speaks on
one text and keeps silent on its neighbour."""

import toolslib
from crest_catalogue import load
from lintlib import lint, manifest, place_files, rules, run_lint
from toolslib import contains, equal

MANIFEST = manifest(
    "comm.sends, instrument: counter", "comm.data, instrument: counter, unit: bytes",
    "comm.peers, instrument: gauge", "comm.waiting, instrument: range-sampler",
    "comm.message-size, instrument: histogram, unit: bytes, buckets: fast, help: 'x, (y)'",
    "comm.ping-time, instrument: timer",
    "comm.fetch-time, instrument: keyed-timer",
    "comm.rounds, instrument: stages, stages: ['0', '1/3', '1']",
    "comm.dag, instrument: mutex",
    "comm.kinds, instrument: counter, labels: {kind: {values: [a]}, peer: {bound: 9}}",
    "comm.old, instrument: counter, status: lost, replaced-by: comm.sends",
    "comm.next, instrument: counter, status: planned",
    "comm.shard-1.entries, instrument: gauge").replace("}\n", ", meaning: x}\n")

C = "#include <crest/crest.h>\n"
EVERYTHING = toolslib.ROOT / "tests/tools/everything.metrics.yaml"

# (what, source, findings as (rule, line, words)); --partial, so that unused names are another test
CASES = [
    ("a declaration", 'CREST_COUNTER(a, "comm.sends", "x"); f() { crest_counter_inc(&a); }', []),
    ("its unit", 'CREST_COUNTER(a, "comm.data", "x", .unit = CREST_BYTES); f(&a);', []),
    ("no unit", 'CREST_COUNTER(a, "comm.data", "x"); f(&a);',
     [("wrong-unit", 2, "the unit none here; it is declared with bytes")]),
    ("another unit", 'CREST_GAUGE(a, "comm.peers", "x", .unit = CREST_SECONDS); f(&a);',
     [("wrong-unit", 2, "seconds")]),
    ("over lines", 'CREST_HISTOGRAM(\n    a,\n    "comm."\n    "message-size", "x, (y)",\n'
     '    .buckets = CREST_BUCKETS_FAST, .unit = CREST_BYTES);\nf(&a);', []),
    ("other buckets", 'CREST_HISTOGRAM(a, "comm.message-size", "x, " "(y)",\n.unit = CREST_BYTES, '
     '.buckets = &crest_buckets_bytes); f(&a);', [("wrong-buckets", 2, "has the buckets 'bytes' "
                                                  "here; it is declared with the buckets 'fast'")]),
    ("buckets of its own", 'CREST_HISTOGRAM(a, "comm.message-size", "x, (y)",\n'
     '.unit = CREST_BYTES, .buckets = &mine); f(&a);', [("wrong-buckets", 2, "of its own")]),
    ("no buckets", 'CREST_HISTOGRAM(a, "comm.message-size", "x, (y)", .unit = CREST_BYTES); f(&a);',
     [("wrong-buckets", 2, "no buckets here")]),
    ("buckets of settings", 'f() { crest_metric_options o = {.name = "comm.message-size",\n'
     '.unit = CREST_BYTES, .buckets = CREST_BUCKETS_SLOW};\ncrest_histogram_get(0, &o, 0); }',
     [("wrong-buckets", 2, "'slow'")]),
    ("settings whose buckets come later", 'f() { crest_metric_options o = {.name = '
     '"comm.message-size", .unit = CREST_BYTES};\no.buckets = choose();\n'
     'crest_histogram_get(0, &o, 0); }', []),
    ("another description", 'CREST_COUNTER(a, "comm.sends",\n"y"); f(&a);',
     [("wrong-description", 2, "is described as 'y' here; declared is 'x'")]),
    ("another description of settings", 'f() { crest_metric_options o = {.name = "comm.peers",\n'
     '.description = "X"};\ncrest_gauge_get(0, &o, 0); }', [("wrong-description", 2, "'X'")]),
    ("a description given later", 'f() { crest_metric_options o = {"comm.sends", "x"};\n'
     'crest_counter_get(0, &o, 0);\no.name = "comm.peers"; o.description = "y";\n'
     'crest_gauge_get(0, &o, 0); }', []),
    ("undeclared", 'CREST_COUNTER(a, "comm.send", "x"); f(&a);',
     [("undeclared-name", 2, "nearest declared name is 'comm.sends'")]),
    ("spelled otherwise", 'CREST_COUNTER(a, "comm.Sends", "x"); f(&a);',
     [("split-spelling", 2, "declared as 'comm.sends'")]),
    ("digits apart", 'CREST_GAUGE(a, "comm.shard1.entries", "x"); f(&a);',
     [("split-spelling", 2, "comm.shard-1.entries")]),
    ("another instrument", 'CREST_GAUGE(a, "comm.sends", "x"); f(&a);',
     [("wrong-instrument", 2, "declared as a counter")]),
    ("DEFINE", 'CREST_TIMER_DEFINE(a, "comm.ping-time", "x"); f(&a);', []),
    ("DECLARE only", "CREST_TIMER_DECLARE(a);", []),
    ("lost", 'CREST_COUNTER(a, "comm.old", "x"); f(&a);', [("retired-name", 2, "comm.sends")]),
    ("planned", 'CREST_COUNTER(a, "comm.next", "x"); f(&a);', [("planned-name", 2, "active")]),
    ("never used", 'CREST_COUNTER(a, "comm.sends", "x");', [("unused-variable", 2, "'a'")]),
    ("only in a comment", 'CREST_COUNTER(a, "comm.sends", "x"); /* crest_counter_inc(&a); */',
     [("unused-variable", 2, "'a'")]),
    ("keyed", 'CREST_TIMER(a, "comm.fetch-time", "x"); f() { crest_timer_begin(&a, op); }', []),
    ("keyed with an owner",
     'CREST_TIMER(a, "comm.fetch-time", "x"); f() { crest_timer_begin_owned(&a, op, peer); }', []),
    ("keyed and declared as a timer",
     'CREST_TIMER(a, "comm.ping-time", "x"); f() { crest_timer_begin(&a, op); }',
     [("wrong-instrument", 2, "keyed-timer")]),
    ("stages", 'CREST_STAGES(a, "comm.rounds", "x", .stages = {"0", "1/3", "1"}); f(&a);', []),
    ("other stages", 'CREST_STAGES(a, "comm.rounds", "x", .stages = {"0", "1/2", "1"}); f(&a);',
     [("wrong-stages", 2, "0, 1/2, 1")]),
    ("a mutex", 'CREST_MUTEX(a, "comm.dag"); f(&a);', []),
    ("a mutex that is none", 'CREST_MUTEX(a, "comm.dagg"); f(&a);', [("undeclared-name", 2, "")]),
    ("a family", 'CREST_COUNTER_FAMILY(a, "comm.kinds", "x", kind, peer); f() { a_with("", ""); }',
     []),
    ("a family, keys turned round",
     'CREST_COUNTER_FAMILY(a, "comm.kinds", "x", peer, kind); f() { a_with("", ""); }', []),
    ("a family with options",
     'CREST_COUNTER_FAMILY_OPTIONS(a, "comm.kinds", "x", (.idle_s = 5, .no_windows = 1), kind,\n'
     'peer); f() { a_with("", ""); }', []),
    ("a family lacking a key", 'CREST_COUNTER_FAMILY(a, "comm.kinds", "x", kind); f(a_with);',
     [("wrong-labels", 2, "the label kind here; it is declared with the labels kind, peer")]),
    ("no family", 'CREST_COUNTER(a, "comm.kinds", "x"); f(&a);',
     [("wrong-labels", 2, "no labels here")]),
    ("a stages family", 'CREST_STAGES_FAMILY(a, "comm.rounds", "x", (.stages = {"0"}), peer);'
     'f(a_with);', [("wrong-labels", 2, ""), ("wrong-stages", 2, "")]),
    ("by name", 'f() { crest_increment_counter("comm.sends"); }', []),
    ("by name, another kind", 'f() { crest_set_gauge("comm.sends", 1); }',
     [("wrong-instrument", 2, "crest_set_gauge makes 'comm.sends' a gauge")]),
    ("by name, begun", 'f() { crest_timer_begin_by_name("comm.ping-time", op); }',
     [("wrong-instrument", 2, "keyed-timer")]),
    ("a source", 'CREST_SOURCE("comm");\nf() { crest_record("message-size", 1); }', []),
    ("a source from a macro", '#define COMM "comm"\nCREST_SOURCE(COMM);\n'
     'f() { crest_increment_counter("sends"); }', []),
    ("a source in a source", '#define HERE "comm"\nCREST_SOURCE_IN(HERE, "shard-1");\n'
     'f() { crest_set_gauge("entries", 1); }', []),
    ("a wrong source", 'CREST_SOURCE("com");\nf() { crest_increment_counter("sends"); }',
     [("undeclared-name", 3, "'com.sends'")]),
    ("a source handed over", 'f() { crest_increment_counter_in(crest_source_get("comm"), '
     '"sends"); }', []),
    ("a source in a variable", 'f() { crest_source *s = crest_source_get("comm");\n'
     'crest_increment_counter_in(s, "send"); }', [("undeclared-name", 3, "comm.send")]),
    ("an unknown source", 'f(crest_source *s) { crest_increment_counter_in(s, "sent"); }',
     [("run-time-name", 2, "'sent' under a source")]),
    ("a name made at run time", 'f(int i) { char n[9]; sprintf(n, "x%d", i);\n'
     'crest_increment_counter(n); }', [("run-time-name", 3, "")]),
    ("that a comment names", 'f(char *n) { /* crest-lint: name comm.s* */\n'
     'crest_increment_counter(n); }', []),
    ("that a comment names wrongly", 'f(char *n) {\n'
     'crest_increment_counter(n); /* crest-lint: name comm.x* */ }', [("undeclared-name", 3, "")]),
    ("a choice", 'f(int i) { crest_increment_counter(i ? "comm.sends" : "comm.sent"); }',
     [("undeclared-name", 2, "comm.sent")]),
    ("a constant", 'static const char name[] = "comm.sends";\n'
     'f() { crest_increment_counter(name); }', []),
    ("a local", 'f() {\n  const char *name = "comm.sendz";\n  crest_increment_counter(name);\n}',
     [("undeclared-name", 3, "comm.sendz")]),
    ("a local of another function", 'g()\n{\n  char *name = "comm.sendz";\n}\nf(char *name)\n{\n'
     '  crest_increment_counter(name);\n}\n', [("run-time-name", 8, "")]),
    ("a parameter", 'static void count(int i, const char *name)\n{\n  '
     'crest_increment_counter(name);\n}\nvoid f(void)\n{\n  count(1, "comm.sendz");\n}\n',
     [("undeclared-name", 8, "comm.sendz")]),
    ("a macro that declares", '#define MINE(v, n) CREST_COUNTER(v, "comm." n, "x")\n'
     'MINE(a, "sends");\nMINE(b, "sent");\nf(&a, &b);', [("undeclared-name", 4, "comm.sent")]),
    ("a macro that counts", '#define COUNT(n) \\\n  do { crest_increment_counter("comm." n); } \\\n'
     '  while (0)\nf() { COUNT("sends"); COUNT("sent"); }',
     [("undeclared-name", 5, "comm.sent")]),
    ("a macro that hands settings on", '#define MINE(v, n, ...) \\\n'
     '  CREST_COUNTER(v, n, "x", ##__VA_ARGS__)\nMINE(a, "comm.data", .unit = CREST_BYTES);\n'
     'MINE(b, "comm.sends"); f(&a, &b);', []),
    ("settings in a macro", '#define MORE .unit = CREST_BYTES, .buckets = CREST_BUCKETS_FAST\n'
     'CREST_HISTOGRAM(a, "comm.message-size", "x, (y)", MORE); f(&a);', []),
    ("settings of a family in a macro", '#define MORE (.stages = {"0", "1/3", "1"})\n'
     'CREST_STAGES_FAMILY(a, "comm.rounds", "x", MORE, peer); f(a_with);',
     [("wrong-labels", 3, "")]),
    ("another unit beside a macro", 'CREST_COUNTER(a, "comm.data", "x", .unit = CREST_NONE, MORE);'
     'f(&a);', [("wrong-unit", 2, "the unit none here")]),
    ("a registry", 'CREST_REGISTRY(r, .prefix = "comm");\n#define CREST_REGISTRY_HERE &r\n'
     'CREST_COUNTER(a, "sends", "x"); f(&a);', []),
    ("a registry, prefix twice", 'CREST_REGISTRY(r, .prefix = "comm");\n'
     '#define CREST_REGISTRY_HERE &r\nCREST_COUNTER(a, "comm.sends", "x"); f(&a);',
     [("undeclared-name", 4, "comm.comm.sends")]),
    ("a registry no longer", 'CREST_REGISTRY(r, .prefix = "comm");\n'
     '#define CREST_REGISTRY_HERE &r\n#undef CREST_REGISTRY_HERE\n'
     'CREST_COUNTER(a, "comm.sends", "x"); f(&a);', []),
    ("settings", 'f() { crest_metric_options o = {.name = "comm.data", .unit = CREST_BYTES};\n'
     'crest_counter_get(NULL, &o, 0); }', []),
    ("settings, wrong instrument", 'f() { crest_metric_options o = {.name = "comm.data",\n'
     '.unit = CREST_BYTES};\ncrest_gauge_get(NULL, &o, 0); }', [("wrong-instrument", 2, "gauge")]),
    ("settings in place", 'f() { crest_gauge_get(NULL, &(crest_metric_options){.name = '
     '"comm.peer"}, 0); }', [("undeclared-name", 2, "comm.peers")]),
    ("settings in order", 'crest_metric_options o = {"comm.data", "x", CREST_BYTES};\n'
     'f() { crest_counter_get(0, &o, 0); }', []),
    ("a name given later", 'f() { crest_metric_options o = {.name = "comm.sends"};\n'
     'crest_counter_get(0, &o, 0);\no.name = "comm.sent";\ncrest_counter_get(0, &o, 0); }',
     [("undeclared-name", 4, "comm.sent")]),
    ("a unit given later", 'f() { crest_metric_options o = {.name = "comm.data"};\n'
     'o.unit = CREST_BYTES;\ncrest_counter_get(0, &o, 0); }', []),
    ("a unit and a description given later", 'f() { crest_metric_options o = {0};\n'
     'o.name = "comm.data"; o.unit = choose(); o.description = "y";\n'
     'crest_counter_get(0, &o, 0); }', []),
    ("another field given later", 'f() { crest_metric_options o = {.name = "comm.data"};\n'
     'o.idle_s = 5;\ncrest_counter_get(0, &o, 0); }', [("wrong-unit", 2, "none here")]),
    ("a table", 'static const crest_metric_options t[] = {\n  {.name = "comm.peers"},\n'
     '  [1] = {.name = "comm.sends"},\n};\nf() { crest_gauge_get(0, &t[i], 0); }',
     [("wrong-instrument", 4, "comm.sends")]),
    ("a table of one's own", 'struct row { const char *n; int crest_; } t[] = {\n'
     '  {"comm.sends", 1},\n  {"comm.sent", 2},\n  {"other.thing", 3}};',
     [("undeclared-literal", 4, "comm.sent")]),
    ("a family at run time", 'f() { static const char *const keys[] = {"kind"};\n'
     'crest_metric_options o = {.name = "comm.kinds"};\n'
     'crest_counter_family_new(0, &o, keys, 1, 0); }', [("wrong-labels", 3, "label kind here")]),
    ("a look-up", 'f() { crest_snapshot_find(s, "comm.sent", 0, 0, &v); }',
     [("undeclared-name", 2, "")]),
    ("a look-up of a part", 'f() { crest_snapshot_find(s, "comm.rounds.stage", 0, 0, &v); }', []),
    ("a comment", '/* crest_increment_counter("comm.sent"); */ // CREST_COUNTER(a, "b", "c")\n'
     'char *s = "crest_increment_counter(\\"comm.sent\\")";', []),
    ("switched off", '#if 0\nf() { crest_increment_counter("comm.sent"); }\n#else\n'
     'f() { crest_increment_counter("comm.zent"); }\n#endif', [("undeclared-name", 5, "zent")]),
    ("quotes in quotes", 'char c = \'"\'; f() { crest_increment_counter("comm.sent"); }',
     [("undeclared-name", 2, "comm.sent")]),
    ("an ignored one", 'f() { crest_increment_counter("comm.sent"); /* crest-lint: ignore '
     'undeclared-name because it shall be refused */ }', []),
    ("an ignore without a reason", 'f() { crest_increment_counter("comm.sent"); '
     '/* crest-lint: ignore undeclared-name */ }', [("allow-unneeded", 2, "a reason")]),
    ("an ignore of nothing", '/* crest-lint: ignore undeclared-name because */\nint crest_x;',
     [("allow-unneeded", 2, "allows nothing")]),
    ("an ignore of no rule", '/* crest-lint: ignore undeclared because */\nint crest_x;',
     [("allow-unneeded", 2, "there is no rule")]),
    ("a declaration of the function itself",
     'void crest_increment_counter(const char *name);\n#define crest_x(n) crest_record(n, 1)', []),
]

CPP = [
    ("a raw string", 'auto s = R"(crest_increment_counter("comm.sent"))";\n'
     'void f() { crest_increment_counter("comm.sends"); }', []),
    ("a raw name", 'void f() { crest_increment_counter(R"x(comm.sent)x"); }',
     [("undeclared-name", 2, "comm.sent")]),
    ("digits with quotes", "int n = 1'000'000; // '\nvoid f() "
     '{ crest_increment_counter("comm.sent"); }', [("undeclared-name", 3, "")]),
    ("a constexpr", 'constexpr const char *kName = "comm.sends";\n'
     'void f() { crest_increment_counter(kName); }', []),
]


def check(place, what, text, wanted, suffix):
    name = f"src/x{suffix}"
    place_files(place, {"m.yaml": MANIFEST, name: C + text + "\n"})
    found = lint(place, "source", "-m", "m.yaml", "--partial", "--", "src")
    equal([finding[0::2][:2] for finding in sorted(found)],
          [(rule, line) for rule, line, _ in sorted(wanted)], f"{what}:\n{text}\n{found}")
    for (_, _, words), finding in zip(sorted(wanted), sorted(found)):
        contains(finding[4], words, what)


def c_is_understood(place):
    for what, text, wanted in CASES:
        check(place, what, text, wanted, ".c")


def cplusplus_is_understood(place):
    for what, text, wanted in CPP:
        check(place, what, text, wanted, ".cc")
        (place / "src/x.cc").unlink()


def columns_are_those_of_the_name(place):
    place_files(place, {"m.yaml": MANIFEST,
                        "x.c": 'f() { /* ä */ crest_increment_counter("comm.sent"); }\n'})
    found = lint(place, "source", "-m", "m.yaml", "--partial", "--", "x.c", status=1)
    equal(found[0][2:4], (1, 39))


def what_is_not_recorded_is_told(place):
    place_files(place, {
        "m.yaml": manifest("comm.a, instrument: counter", "comm.b, instrument: counter",
                           "comm.c, instrument: counter, recorded-by: host",
                           "comm.d, instrument: counter, status: planned",
                           "comm.e, instrument: counter, exempt: {unused-name: made elsewhere}",
                           "comm.f, instrument: mutex"),
        "x.c": 'f() { crest_increment_counter("comm.a"); }'})
    found = [finding for finding in lint(place, "source", "-m", "m.yaml", "--", "x.c")
             if finding[0] == "unused-name"]
    equal([finding[:3] for finding in found],
          [("unused-name", "m.yaml", 6), ("unused-name", "m.yaml", 10)])


def headers_and_other_files_are_followed(place):
    place_files(place, {
        "m.yaml": MANIFEST,
        "names.h": '#define COMM_SOURCE "comm"\n',
        "team.h": '#include <crest/crest.h>\n#include "registry.h"\n'
                  'CREST_COUNTER_DECLARE(sends);\nCREST_GAUGE_DECLARE(peers);\n',
        "registry.h": "CREST_REGISTRY_DECLARE(team);\n#define CREST_REGISTRY_HERE &team\n",
        "team.c": '#include "team.h"\nCREST_REGISTRY_DEFINE(team, .prefix = COMM_SOURCE);\n'
                  'CREST_COUNTER_DEFINE(sends, "sends", "x");\n'
                  'CREST_GAUGE_DEFINE(peers, "peers", "x");\n',
        "use.c": '#include "names.h"\nCREST_SOURCE(COMM_SOURCE);\n'
                 'f() { crest_counter_inc(&sends); crest_set_gauge("peers", 1); }\n'})
    found = lint(place, "source", "-m", "m.yaml", "--partial", "--", ".")
    equal([finding[:3] for finding in found], [("unused-variable", "./team.c", 4)], f"{found}")


def a_generated_header_is_declared_and_used(place):
    header = ('CREST_COUNTER_DECLARE(a);\nCREST_COUNTER_DECLARE(b);\n#ifdef TEAM_DEFINE\n'
              'CREST_COUNTER_DEFINE(a, "comm.sends", "x");\n'
              'CREST_COUNTER_DEFINE(b, "comm.data", "x", .unit = CREST_BYTES);\n#endif\n')
    place_files(place, {"m.yaml": MANIFEST, "team.h": header, "x.c": "f() { count(&a); }\n"})
    found = lint(place, "source", "-m", "m.yaml", "--partial", "--", ".")
    equal([finding[:3] for finding in found], [("unused-variable", "./team.h", 5)], f"{found}")


def every_instrument_of_a_generated_header_is_found(place):
    """Each metric declared by the generator, and used: neither unused nor undeclared."""
    made = toolslib.command([toolslib.TOOLS / "crest", "catalogue", "header", EVERYTHING])
    variables = [metric.variable for metric in load([EVERYTHING])[0][0].metrics]
    uses = "".join(f"f(&{name}); g({name}_with);" for name in variables)
    place_files(place, {"metrics.h": made, "x.c": f"#include \"metrics.h\"\nh() {{ {uses} }}\n"})
    equal(lint(place, "source", "-m", str(EVERYTHING), "--", "."), [], "findings")
    place_files(place, {"x.c": '#include "metrics.h"\n'})
    found = [finding[0] for finding in lint(place, "source", "-m", str(EVERYTHING), "--", ".")]
    equal(found, ["unused-variable"] * len(variables), "findings where none is used")


def fix_respells_names(place):
    text = ('#include <crest/crest.h>\nCREST_COUNTER(a, "comm.Sends", "comm.Sends");\n'
            '/* "comm.Sends" */\nf() { f(&a); crest_set_gauge("comm.Peers", 1); }\n'
            'CREST_SOURCE("comm");\n')
    other = ('CREST_SOURCE("comm");\nf() { crest_set_gauge("Peers", 1);\n'
             'crest_increment_counter("se" "nds"); crest_increment_counter("Se" "nds"); }\n'
             '#define NAME "Sends"\ng() { crest_increment_counter(NAME); }\n')
    place_files(place, {"m.yaml": MANIFEST, "in/x.c": text.replace('CREST_SOURCE("comm");\n', ""),
                        "in/y.c": other.encode() + b"/* \xff\xfe */\r\n", "out.c": text})
    (place / "in/x.c").chmod(0o755)
    _, out, _ = run_lint(place, "source", "--fix", "-m", "m.yaml", "--partial", "--", "in",
                         status=1)
    contains(out, "fixed: in/x.c:2:18: 'comm.Sends' -> 'comm.sends'")
    contains(out, "in/y.c:3:62: error: 'comm.Sends'")
    fixed = (place / "in/x.c").read_text()
    contains(fixed, 'CREST_COUNTER(a, "comm.sends", "comm.Sends");\n/* "comm.Sends" */')
    contains(fixed, 'crest_set_gauge("comm.peers", 1)')
    equal((place / "in/x.c").stat().st_mode & 0o777, 0o755, "mode")
    data = (place / "in/y.c").read_bytes()
    equal(data.endswith(b"/* \xff\xfe */\r\n"), True, "bytes that are no UTF-8 stay")
    contains(data.decode("latin-1"), 'crest_set_gauge("peers", 1)')
    contains(data.decode("latin-1"), '"Se" "nds"', "put together: left alone")
    equal((place / "out.c").read_text(), text, "a file outside of the paths")
    _, out, _ = run_lint(place, "source", "--fix", "-m", "m.yaml", "--partial", "--", "in")
    equal("fixed" in out, False, "a second time")
    equal((place / "in/y.c").read_bytes(), data, "a second time")


def others_names_are_others_business(place):
    place_files(place, {"m.yaml": MANIFEST, "x.c": 'f() { crest_set_gauge("casper.x", 1); }\n'})
    equal(rules(lint(place, "source", "-m", "m.yaml", "--partial", "--", "x.c")),
          ["undeclared-name"])
    lint(place, "source", "-m", "m.yaml", "--partial", "--own-prefixes", "--", "x.c", status=0)


toolslib.main([c_is_understood, cplusplus_is_understood, columns_are_those_of_the_name,
               what_is_not_recorded_is_told, headers_and_other_files_are_followed,
               a_generated_header_is_declared_and_used,
               every_instrument_of_a_generated_header_is_found, fix_respells_names,
               others_names_are_others_business])
