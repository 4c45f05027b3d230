#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads manifests with one mistake each and expects it to be told with its place and what was
expected there, and nothing else to be told."""

import yaml

import toolslib
from toolslib import Failure, contains, equal

from crest_catalogue import load, load_file, manifest_nodes

HEAD = "manifest: 1\nteam: t\nprefixes: [a]\n"
ONE = HEAD + "metrics:\n"

# what it is, text, line, column, words of the message
MISTAKES = [
    ("empty", "", 1, 1, "an empty file"),
    ("only a comment", "# nothing\n", 1, 1, "an empty file"),
    ("not YAML", ONE + "  - {name: a.b,\n", 6, 1, "not YAML"),
    ("a tab", ONE + "\t- name: a.b\n", 5, 1, "not YAML"),
    ("a colon in a text", ONE + "  - name: a.b\n    instrument: gauge\n    meaning: A: b\n", 7, 15,
     "put it in quotes"),
    ("two documents", HEAD + "metrics: []\n---\nx: 1\n", 5, 1, "not YAML"),
    ("an unknown alias", HEAD + "metrics: *x\n", 4, 10, "not YAML"),
    ("a list", "- 1\n", 1, 1, "expected a manifest"),
    ("a control character", HEAD + "about: \"x\x07\"\nmetrics: []\n", 4, 10, "U+0007"),
    ("no team", "manifest: 1\nprefixes: [a]\nmetrics: []\n", 1, 1, "has no team"),
    ("no version", "team: t\nprefixes: [a]\nmetrics: []\n", 1, 1, "has no manifest"),
    ("another version", HEAD.replace("1", "2", 1) + "metrics: []\n", 1, 11,
     "found the number 2; expected the version of the schema, a whole number from 1 to 1"),
    ("an unknown key", HEAD + "metric: []\nmetrics: []\n", 4, 1, "did you mean metrics?"),
    ("a key again", HEAD + "team: u\nmetrics: []\n", 4, 1, "the first is in line 2"),
    ("a key that is a number", HEAD + "1: x\nmetrics: []\n", 4, 1, "as a key"),
    ("a key that is a list", HEAD + "[x]: x\nmetrics: []\n", 4, 1, "found a list as a key"),
    ("a team in capitals", HEAD.replace("t\n", "T\n", 1) + "metrics: []\n", 2, 7, "lower case"),
    ("no prefix", HEAD.replace("[a]", "[]") + "metrics: []\n", 3, 11, "an empty list"),
    ("a prefix again", HEAD.replace("[a]", "[a, a]") + "metrics: []\n", 3, 15, "again"),
    ("a bad prefix", HEAD.replace("[a]", "[a.]") + "metrics: []\n", 3, 12, "ends with a separator"),
    ("metrics that are a text", HEAD + "metrics: x\n", 4, 10, "expected a list of metrics"),
    ("a metric that is a text", ONE + "  - x\n", 5, 5, "expected a metric"),
    ("no instrument", ONE + "  - {name: a.b, meaning: x}\n", 5, 12, "has no instrument"),
    ("no name", ONE + "  - {instrument: gauge, meaning: x}\n", 5, 5, "has no name"),
    ("a recursive alias", ONE + "  - &x {name: a.b, instrument: gauge, meaning: x, unit: *x}\n",
     5, 5, "found a mapping; expected none, bytes"),
    ("brackets in brackets", HEAD + "metrics: " + "[" * 100000, 4, 41, "more than 32 levels"),
    ("a bound that is none", HEAD + "labels: {k: {bound: 0}}\nmetrics: [{name: a.b, "
     "instrument: gauge, meaning: x, labels: [k]}]\n", 4, 21, "from 1 to 2000"),
    ("a label nobody uses", HEAD + "labels: {k: {bound: 3}}\nmetrics: []\n", 4, 10,
     "some metric below uses"),
    ("a rule without expr", HEAD + "metrics: []\nrules: [{record: a}]\n", 5, 9, "has no expr"),
    ("a rule with a bad name", HEAD + "metrics: []\nrules: [{record: a.b, expr: x}]\n", 5, 18,
     "letters, digits, _ and :"),
]

# the same within one metric: what follows its name, with ^ before the place, or without one if the
# place is the name; and words
OF_A_METRIC = [
    ("instrument: ^gague", "found the text 'gague'; expected counter, gauge, range-sampler, "
     "histogram, timer, keyed-timer, stages or mutex; did you mean gauge?"),
    ("instrument: ^[gauge]", "found a list"),
    ("instrument: gauge, ^unti: bytes", "did you mean unit?"),
    ("instrument: gauge, unit: ^byte", "did you mean bytes?"),
    ("instrument: timer, unit: ^seconds", "found unit of a timer"),
    ("instrument: counter, buckets: ^fast", "found buckets of a counter"),
    ("instrument: histogram, buckets: [1, ^1]", "one above the one before it, 1"),
    ("instrument: histogram, buckets: [^-1]", "0 or more"),
    ("instrument: histogram, buckets: [^.inf]", "+Inf is implied"),
    ("instrument: histogram, buckets: [^x]", "expected a bucket bound"),
    ("instrument: histogram, buckets: ^[]", "1 to 64"),
    ("instrument: histogram, buckets: ^quick", "fast, default, slow"),
    ("instrument: histogram, range: {lowest: 1, highest: ^1, digits: 2}", "twice the lowest"),
    ("instrument: histogram, range: ^{lowest: 1, highest: 100}", "no digits"),
    ("instrument: histogram, range: {lowest: 1, highest: 100, digits: ^6}", "from 0 to 5"),
    ("instrument: histogram, range: none, buckets: ^bytes", "keeps no values"),
    ("instrument: histogram, quantiles: [^99]", "did you mean 0.99?"),
    ("instrument: histogram, quantiles: [0.5, ^0.5]", "again"),
    ("instrument: histogram, quantiles: ^[0.1, 0.2, 0.3, 0.4, 0.5]", "at most 4"),
    ("instrument: histogram, quantiles: ^[0.5], windows: no", "windows: no"),
    ("instrument: gauge, quantiles: ^[0.5]", "found quantiles of a gauge"),
    ("instrument: gauge, native: ^off", "found native of a gauge"),
    ("instrument: timer, native: ^perhaps", "expected off, on or only"),
    ("instrument: timer, native: {factor: ^1}", "expected one above 1"),
    ("instrument: histogram, range: none, native: ^only", "that keeps no values"),
    ("instrument: counter, windows: ^0", "expected yes or no"),
    ("instrument: timer, deadline: ^60s", "is it a keyed-timer?"),
    ("instrument: keyed-timer, deadline: ^60", "found the number 60; expected a duration"),
    ("instrument: keyed-timer, deadline: ^1 h", "expected a duration"),
    ("instrument: keyed-timer, deadline: ^0s", "from 1 millisecond"),
    ("instrument: keyed-timer, deadline: ^50d", "to 49 days"),
    ("instrument: counter, span: ^a block", "found span of a counter"),
    ("instrument: timer, span: ^[a]", "expected a text"),
    ("instrument: counter, idle: ^1500ms", "whole seconds"),
    ("instrument: gauge, idle: ^1h", "found idle of a gauge"),
    ("instrument: stages", "have no stages"),
    ("instrument: stages, stages: [^0, \"1\"]", 'put it in quotes, "0"'),
    ("instrument: stages, stages: [x, ^x]", "again"),
    ("instrument: timer, stages: ^[x]", "found stages of a timer"),
    ("instrument: stages, stages: [x], labels: ^[{stage: {bound: 2}}]", "stages set it"),
    ("instrument: gauge, labels: [^peer]", "found the label peer; expected one of `labels`"),
    ("instrument: gauge, labels: [{^k: {meaning: x}}]", "label k has no bound"),
    ("instrument: gauge, labels: [{^k: {values: several}}]", "label k has no bound"),
    ("instrument: gauge, labels: [{k: {values: ^[]}}]", "an empty list"),
    ("instrument: gauge, labels: [{k: {values: [^on, x]}}]", 'put it in quotes, "on"'),
    ("instrument: gauge, labels: [{k: {values: [x, ^x]}}]", "again"),
    ("instrument: gauge, labels: [{k: {values: [x, y], bound: ^1}}]", "at least 2"),
    ("instrument: gauge, labels: [{^outcome: {bound: 4}}]", "reserved, timers set it"),
    ("instrument: gauge, labels: [{^_k: {bound: 4}}]", "a letter, then"),
    ("instrument: gauge, labels: ^[{k: {bound: 4}}, {k: {bound: 4}}]", "twice"),
    ("instrument: mutex, labels: ^[{k: {bound: 4}}]", "found labels of a mutex"),
    ("instrument: gauge, variable: ^9x", "expected a C identifier"),
    ("instrument: gauge, variable: ^class", "no keyword"),
    ("instrument: gauge, status: ^dead", "active, planned, lost or retired"),
    ("instrument: gauge, recorded-by: ^me", "code, library or host"),
    ("instrument: gauge, since: ^1.0", 'put it in quotes, "1.0"'),
    ("instrument: gauge, exempt: ^[x]", "expected a mapping of rules and reasons"),
    ("instrument: gauge, exempt: {^No_x: y}", "expected the id of a rule"),
    ("instrument: gauge, exempt: {no-x: ^~}", "found nothing ~; expected a text: the reason"),
    ("instrument: gauge, replaced-by: ^[]", "an empty list"),
    ("instrument: gauge, alert: ^{for: 5m}", "has no expr"),
    ("instrument: gauge, alert: {expr: x, for: ^5}", "expected a duration"),
    ("instrument: gauge, alert: {expr: x, severity: ^bad}", "info, warning or critical"),
    ("instrument: gauge, alert: {expr: x, name: ^a-b}", "name of an alert"),
    ("instrument: gauge, alert: {expr: ^'rate($name_x[5m])'}", "before letters, digits and _"),
    ("instrument: gauge, alert: {expr: ^'x > ${max}'}", "found ${max} in the expression"),
    ("instrument: gauge, status: lost, alert: ^{expr: x}", "that is lost"),
]

NAMES = [
    ("b.c", "begin with a and a dot"),
    ("ab", "begin with a and a dot"),
    ("a..b", "two separators in a row"),
    ("a.b-", "ends with a separator"),
    ("a.b c", "it has ' '"),
    ("a.ö", "it has 'ö'"),
    ("1a", "begins with '1'"),
    ("a." + "x" * 199, "longer than 200 bytes"),
]

# two metrics of one manifest that would be exported under one name, and which
CLASHES = [
    ("{name: a.b, instrument: counter}", "{name: a.b-seconds, instrument: timer}", "a_b_rate1m"),
    ("{name: a.b.c, instrument: counter}", "{name: a.b-c, instrument: counter}", "a_b_c"),
    ("{name: a.b, instrument: counter}", "{name: a.b-total, instrument: gauge}", "a_b_total"),
    ("{name: a.b, instrument: histogram}", "{name: a.b.sum, instrument: gauge}", "a_b_sum"),
    ("{name: a.b, instrument: histogram}", "{name: a.b.created, instrument: gauge}",
     "a_b_created"),
    ("{name: a.b, instrument: timer}", "{name: a.b-seconds.bucket, instrument: gauge}",
     "a_b_seconds_bucket"),
    ("{name: a.b, instrument: keyed-timer}", "{name: a.b.in-flight, instrument: gauge}",
     "a_b_in_flight"),
    ("{name: a.b, instrument: keyed-timer}", "{name: a.b-oldest-seconds, instrument: gauge}",
     "a_b_oldest_seconds"),
    ("{name: a.b, instrument: stages, stages: [x]}", "{name: a.b.stuck, instrument: gauge, "
     "unit: seconds}", "a_b_stuck_seconds"),
    ("{name: a.b, instrument: stages, stages: [x]}", "{name: a.b.since-start, instrument: timer}",
     "a_b_since_start_seconds"),
    ("{name: a.b, instrument: stages, stages: [x]}", "{name: a.b.stage, instrument: timer}",
     "a_b_stage_seconds"),
    ("{name: a.b, instrument: mutex}", "{name: a.b.lock.queue, instrument: gauge}",
     "a_b_lock_queue"),
    ("{name: a.b, instrument: mutex}", "{name: a.b-lock-acquire, instrument: timer}",
     "a_b_lock_acquire_seconds"),
]

# names that end like what windows give, and what they are exported as
DERIVED = [
    ("{name: a.b.rate1m, instrument: gauge}", "a_b_rate1m"),
    ("{name: a.b.peak15m, instrument: counter}", "a_b_peak15m"),
    ("{name: a.b.rate5m-bytes, instrument: gauge}", "a_b_rate5m_bytes"),
    ("{name: a.b-p99-9-1m, instrument: range-sampler}", "a_b_p99_9_1m"),
    ("{name: a.b.max1m, instrument: timer}", "a_b_max1m_seconds"),
]

NO_CLASHES = [
    ("{name: a.b, instrument: counter, windows: no}", "{name: a.b-seconds, instrument: timer}"),
    ("{name: a.b, instrument: counter, unit: bytes}", "{name: a.b-seconds, instrument: timer}"),
    ("{name: a.load.5m, instrument: gauge}", "{name: a.rate10m, instrument: gauge}"),
    ("{name: a.b, instrument: keyed-timer}",
     "{name: a.b.in-flight, instrument: gauge, recorded-by: library}"),
    ("{name: a.b.c, instrument: counter, status: lost}", "{name: a.b-c, instrument: counter}"),
]


def problems_of(place, text, name="x.metrics.yaml"):
    path = place / name
    path.write_text(text, encoding="utf-8")
    return load_file(path)[1]


def expect(place, what, text, line, column, words):
    found = problems_of(place, text)
    said = "\n".join(str(problem) for problem in found)
    if len(found) != 1 or (found[0].position.line, found[0].position.column) != (line, column):
        raise Failure(f"{what}: wanted one problem at {line}:{column}, found\n{said}\nin\n"
                      + text[:1000])
    contains(said, words, what)


def every_mistake_is_told_in_its_place(place):
    for what, text, line, column, words in MISTAKES:
        expect(place, what, text, line, column, words)


def every_mistake_of_a_metric_is_told_in_its_place(place):
    for text, words in OF_A_METRIC:
        line = "  - {name: a.b, meaning: x, " + text + "}\n"
        column = line.find("^") + 1 or line.index("a.b") + 1
        expect(place, text, ONE + line.replace("^", ""), 5, column, words)


def without_libyaml_it_is_the_same(place):
    """PyYAML can be built without it."""
    fast, manifest_nodes.LOADER = manifest_nodes.LOADER, yaml.SafeLoader
    try:
        every_mistake_is_told_in_its_place(place)
        every_mistake_of_a_metric_is_told_in_its_place(place)
    finally:
        manifest_nodes.LOADER = fast


def names_are_judged_as_the_library_does(place):
    for name, words in NAMES:
        expect(place, name, ONE + f"  - {{instrument: gauge, meaning: x, name: {name}}}\n", 5, 43,
               words)


def two(place, first, second):
    with_meaning = [text.replace("}", ", meaning: x}", 1) for text in (first, second)]
    path = place / "x.metrics.yaml"
    path.write_text(ONE + "".join(f"  - {text}\n" for text in with_meaning), encoding="utf-8")
    return load([path])[1]


def names_that_clash_when_exported_are_told(place):
    for first, second, name in CLASHES:
        for pair in ((first, second), (second, first)):
            found = two(place, *pair)
            said = "\n".join(map(str, found))
            equal(len(found), 1, f"problems of {pair}: {said}")
            contains(said, f"both take {name}", str(pair))
            equal(found[0].position.line, 6, "line")
    for metric, name in DERIVED:
        found = two(place, metric, "{name: a.other, instrument: gauge}")
        said = "\n".join(map(str, found))
        equal(len(found), 1, f"problems of {metric}: {said}")
        contains(said, f"not exported as {name}, which ends like what windows give", metric)
    for first, second in NO_CLASHES:
        equal(two(place, first, second), [], f"problems of {first} and {second}")


def all_mistakes_are_told_in_order(place):
    text = ONE + "".join(f"  - {{name: a.b{i}, instrument: x, meaning: x, unit: y}}\n"
                         for i in range(20)) + "tema: x\n"
    lines = [problem.position.line for problem in problems_of(place, text)]
    equal(lines, list(range(5, 26)), "lines of problems")


def bytes_that_are_not_utf_8_are_told(place):
    path = place / "x.metrics.yaml"
    path.write_bytes(b"manifest: 1\nteam: \xc3\xb6\xff\n")
    problem, = load_file(path)[1]
    equal((problem.position.line, problem.position.column), (2, 8), "place")
    contains(problem.message, "0xff")


def files_that_cannot_be_read_are_told(place):
    problem, = load_file(place / "none.metrics.yaml")[1]
    contains(str(problem), "none.metrics.yaml:1:1: cannot be read: No such file")
    contains(str(load_file(place)[1][0]), "Is a directory")
    (place / "long.yaml").write_text("#" * (4 * 1024 * 1024 + 1))
    contains(load_file(place / "long.yaml")[1][0].message, "is longer than 4194304 bytes")


def owners_are_told_apart(place):
    def write(name, prefixes, *names):
        path = place / f"{name}.metrics.yaml"
        path.write_text(f"manifest: 1\nteam: {name}\nprefixes: [{prefixes}]\nmetrics:\n" + "".join(
            f"  - {{name: {name}, instrument: gauge, meaning: x}}\n" for name in names))
        return path

    outer = write("outer", "a", "a.b", "a.c.d")
    same = write("same", "\"a\"", "a.b")
    inner = write("inner", "a.c", "a.c.e")
    found = [str(problem) for problem in load([outer, same])[1]]
    equal(len(found), 2, f"problems {found}")
    contains(found[0], "same.metrics.yaml:3:12: found the prefix a; expected one that is this "
                       "manifest's alone: it is team outer's in ")
    contains(found[1], f"found the name a.b again; the first is in {outer}:5:12")
    found = [str(problem) for problem in load([outer, inner])[1]]
    equal(len(found), 1, f"problems {found}")
    contains(found[0], "outer.metrics.yaml:6:12: found the name a.c.d; expected one outside a.c")


def everything_that_may_be_written_is_read(place):
    path = place / "x.metrics.yaml"
    path.write_text(HEAD + """\
about: All of it.
labels:
  peer: {meaning: the `neighbour's` name, bound: 15, values: "node-0 … node-15"}
metrics:
  - name: a.b-time
    instrument: stages
    labels: [peer, {kind: {values: [x, "y"]}}, {other: [p, q, r]}]
    meaning: From **here** to [there](x.md), as `f()` says.
    variable: b_time
    buckets: [1e-3, 1, 2.5]
    range: {lowest: 1, highest: 4611686018427387904, digits: 5}
    stages: ["0", "1/3", "1"]
    deadline: 1500ms
    idle: 1h
    quantiles: [0.5, 0.999]
    exempt: {thing-verb: because}
    same-as: {kamon: k, node_exporter: [n, m]}
    idle-ok: rare
    optional: never there
    alert:
      - {expr: "rate($name[5m]) > 0", for: 5m, severity: critical, summary: s}
      - {expr: "x", name: Other}
  - {name: a, instrument: gauge, meaning: x, status: retired, replaced-by: [a.b-time], since: v1,
     last: v2, windows: yes}
rules:
  - {record: "a:b:rate5m", expr: "rate(x[5m])", labels: {k: v}}
""".replace(", windows: yes", ""))
    manifest, problems = load_file(path)
    equal(problems, [], "problems")
    metric = manifest.metrics[0]
    equal([(label.key, label.bound, label.values) for label in metric.labels],
          [("peer", 15, ()), ("kind", 2, ("x", "y")), ("other", 3, ("p", "q", "r"))], "labels")
    equal(metric.description, "From here to there, as f() says.", "description")
    equal((metric.buckets, metric.deadline_ms, metric.idle_s, metric.quantiles, metric.stages),
          ((0.001, 1.0, 2.5), 1500, 3600, (0.5, 0.999), ("0", "1/3", "1")), "options")
    equal((metric.range.highest, metric.range.digits), (2 ** 62, 5), "range")
    equal([(alert.expr, alert.duration, alert.severity, alert.name) for alert in metric.alerts],
          [("rate($name[5m]) > 0", "5m", "critical", ""), ("x", "", "warning", "Other")], "alerts")
    equal(metric.same_as, {"kamon": ("k",), "node_exporter": ("n", "m")}, "same-as")
    equal((metric.at("deadline").line, metric.at("deadline").column), (16, 15), "place")
    equal(str(metric.at("since")), f"{path}:8:11", "place of what is not written")
    equal(manifest.rules[0].labels, {"k": "v"}, "rules")


toolslib.main([
    every_mistake_is_told_in_its_place, every_mistake_of_a_metric_is_told_in_its_place,
    without_libyaml_it_is_the_same, names_are_judged_as_the_library_does,
    names_that_clash_when_exported_are_told,
    all_mistakes_are_told_in_order, bytes_that_are_not_utf_8_are_told,
    files_that_cannot_be_read_are_told, owners_are_told_apart,
    everything_that_may_be_written_is_read])
