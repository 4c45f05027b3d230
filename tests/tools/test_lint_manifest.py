#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400
"""Each rule of `crest lint manifest`: one metric that breaks it, one that does not, and what an
exemption does to it."""

import re

import toolslib
from lintlib import lint, manifest, place_files, rules, run_lint
from toolslib import contains, equal

from crest_lint.lint_rules import RULES

GOOD = "meaning: Something that happens."

# the rule; metrics that break it; metrics that are nearly the same and do not
CASES = [
    ("name-lower-case", ["comm.blockSeen, instrument: counter"],
     ["comm.block-seen, instrument: counter"]),
    ("no-underscore", ["comm.block_seen, instrument: counter"],
     ["comm.block-seen, instrument: counter"]),
    ("no-unit-in-name", ["comm.sent-bytes, instrument: counter, unit: bytes"],
     ["comm.sent, instrument: counter, unit: bytes"]),
    ("no-unit-in-name", ["comm.wait-ms.time, instrument: timer"],
     ["comm.wait-time, instrument: timer"]),
    ("no-type-in-name", ["comm.peers-gauge, instrument: gauge"],
     ["comm.peers, instrument: gauge"]),
    ("no-total-in-name", ["comm.messages-total, instrument: counter"],
     ["comm.messages, instrument: counter"]),
    ("no-total-in-name", ["comm.message-count, instrument: counter"],
     ["comm.accounts, instrument: counter"]),
    ("no-total-in-name", ["comm.messages-per-second, instrument: gauge"],
     ["comm.peers, instrument: gauge"]),
    ("duration-name", ["comm.connect, instrument: timer"],
     ["comm.connect-time, instrument: timer"]),
    ("duration-name", ["comm.fetch, instrument: keyed-timer"],
     ["comm.fetch-time, instrument: keyed-timer"]),
    ("duration-timer", ["comm.connect-time, instrument: histogram, unit: nanoseconds"],
     ["comm.connect-time, instrument: timer"]),
    ("twin-counter", ["comm.ping-time, instrument: timer", "comm.pings, instrument: counter"],
     ["comm.ping-time, instrument: timer", "comm.pings-sent, instrument: counter"]),
    ("twin-counter", ["comm.reply-time, instrument: timer", "comm.replies, instrument: counter"],
     ["comm.reply-time, instrument: timer", "comm.replies, instrument: gauge"]),
    ("one-quantity", ["comm.data, instrument: counter, labels: {unit: {values: [a, b]}}"],
     ["comm.data, instrument: counter, unit: bytes, labels: {kind: {values: [a, b]}}"]),
    ("one-quantity", ["comm.delay, instrument: gauge, labels: {of: {values: [min, max]}}"],
     ["comm.delay, instrument: gauge, labels: {of: {values: [near, far]}}"]),
    ("one-quantity", ["comm.sends, instrument: counter, labels: {to: {values: [a, b, all]}}"],
     ["comm.sends, instrument: counter, labels: {to: {values: [a, b]}}"]),
    ("one-quantity", ["comm.reads-and-writes, instrument: counter"],
     ["comm.reads, instrument: counter"]),
    ("label-bound", ["comm.sends, instrument: counter, labels: {a: {bound: 50}, b: {bound: 41}}"],
     ["comm.sends, instrument: counter, labels: {a: {bound: 50}, b: {bound: 40}}"]),
    ("label-syntax", ["comm.sends, instrument: counter, labels: {Kind: {bound: 5}}"],
     ["comm.sends, instrument: counter, labels: {kind: {bound: 5}}"]),
    ("label-reserved", ["comm.rounds, instrument: stages, stages: [a, b], "
                        "labels: {stage: {bound: 5}}"],
     ["comm.rounds, instrument: stages, stages: [a, b], labels: {step: {bound: 5}}"]),
    ("label-reserved", ["comm.fetch-time, instrument: keyed-timer, labels: {op: {bound: 5}}"],
     ["comm.fetch-time, instrument: timer, labels: {op: {bound: 5}}"]),
    ("label-identity", ["comm.sends, instrument: counter, labels: {hash: {bound: 5}}"],
     ["comm.sends, instrument: counter, labels: {hash: {values: [sha, blake]}}"]),
    ("gauge-of-level", ["comm.inbound-queue, instrument: gauge"],
     ["comm.inbound-queue, instrument: range-sampler"]),
    ("gauge-of-level", ["comm.load, instrument: gauge, meaning: Messages waiting to be read."],
     ["comm.load, instrument: gauge, meaning: Load as the host sees it."]),
    ("gauge-of-total", ["comm.packets-dropped, instrument: gauge"],
     ["comm.packets-dropped, instrument: counter"]),
    ("gauge-of-total", ["comm.faults, instrument: gauge, meaning: Faults since the start."],
     ["comm.faults, instrument: counter, meaning: Faults since the start."]),
    ("split-name", ["comm.blockSeen, instrument: counter, exempt: {name-lower-case: it is old "
                    "enough}", "comm.block-seen, instrument: counter"],
     ["comm.shard-1-2, instrument: counter", "comm.shard-12, instrument: counter"]),
    ("retired-reason", ["comm.old, instrument: counter, status: retired, meaning: Old things."],
     ["comm.old, instrument: counter, status: retired, replaced-by: comm.new",
      "comm.new, instrument: counter"]),
    ("replaced-by", ["comm.old, instrument: counter, status: lost, replaced-by: comm.newer"],
     ["comm.old, instrument: counter, status: lost, replaced-by: comm.new",
      "comm.new, instrument: counter"]),
    ("replaced-by", ["comm.old, instrument: counter, status: lost, replaced-by: comm.new_er",
                     "comm.new-er, instrument: counter"],
     ["comm.old, instrument: counter, status: lost, replaced-by: comm.new-er",
      "comm.new-er, instrument: counter"]),
    ("meaning", ["comm.sends, instrument: counter, meaning: messages sent."],
     ["comm.sends, instrument: counter, meaning: Messages sent to peers."]),
    ("meaning", ["comm.sends, instrument: counter, meaning: Messages sent"],
     ["comm.sends, instrument: counter, meaning: '`Send` calls.'"]),
    ("meaning", ["comm.message-sends, instrument: counter, meaning: Message sends."],
     ["comm.message-sends, instrument: counter, meaning: Calls of send for a message."]),
    ("meaning", ["comm.sends, instrument: counter, meaning: Sends."],
     ["comm.sends, instrument: counter, meaning: Calls of send."]),
    ("unit-missing", ["comm.block-size, instrument: histogram"],
     ["comm.block-size, instrument: histogram, unit: bytes"]),
    ("unit-missing", ["comm.hit-ratio, instrument: gauge"],
     ["comm.hit-ratio, instrument: gauge, unit: ratio"]),
    ("unit-too-coarse", ["comm.pauses, instrument: histogram, unit: seconds"],
     ["comm.pauses, instrument: histogram, unit: nanoseconds"]),
    ("exempt-unknown", ["comm.sends, instrument: counter, exempt: {no-underscores: it is so}"],
     ["comm.se_nds, instrument: counter, exempt: {no-underscore: it is RNode's}"]),
    ("exempt-unneeded", ["comm.sends, instrument: counter, exempt: {no-underscore: it is RNode's}"],
     ["comm.se_nds, instrument: counter, exempt: {no-underscore: it is RNode's}"]),
    ("exempt-reason", ["comm.se_nds, instrument: counter, exempt: {no-underscore: ''}"],
     ["comm.se_nds, instrument: counter, exempt: {no-underscore: it is RNode's}"]),
    ("manifest-error", ["comm..sends, instrument: counter"], ["comm.sends, instrument: counter"]),
    ("manifest-error", ["casper.sends, instrument: counter"], ["comm.sends, instrument: counter"]),
    ("manifest-error", ["comm.a.b, instrument: counter", "comm.a-b, instrument: counter"],
     ["comm.a.b, instrument: counter", "comm.a-c, instrument: counter"]),
]


def whole(metrics):
    return manifest(*[metric if "meaning:" in metric else f"{metric}, {GOOD}"
                      for metric in metrics])


def each_rule_speaks_and_keeps_silent(place):
    for number, (rule, bad, good) in enumerate(CASES):
        what = f"case {number}, {rule}: {bad}"
        place_files(place, {"bad.metrics.yaml": whole(bad), "good.metrics.yaml": whole(good)})
        found = lint(place, "manifest", "bad.metrics.yaml", status=1)
        contains(" ".join(rules(found)), rule, what)
        for finding in found:
            equal(finding[2] > 4 and finding[3] > 1, True, f"{what}: place of {finding}")
        found = lint(place, "manifest", "good.metrics.yaml")
        equal([finding for finding in found if finding[0] == rule], [], f"{what}: without it")


def every_rule_has_a_case(_):
    cases = {rule for rule, _, _ in CASES}
    missing = [rule.id for rule in RULES.values()
               if rule.command == "manifest" and rule.id not in cases]
    equal(missing, [], "rules without a case")
    for rule in RULES:
        equal(bool(re.fullmatch("[a-z]+(-[a-z]+)*", rule)), True, f"{rule} is in kebab case")


def an_exemption_silences_one_rule(place):
    exempt = "exempt: {no-underscore: 'a name of RNode, kept for its dashboards'}"
    place_files(place, {"m.yaml": manifest(
        f"comm.Block_seen, instrument: counter, {GOOD}, {exempt}",
        f"comm.other_seen, instrument: counter, {GOOD}")})
    found = lint(place, "manifest", "m.yaml", status=1)
    equal([(rule, line) for rule, _, line, _, _ in found],
          [("name-lower-case", 5), ("no-underscore", 6)])


def names_no_longer_given_keep_their_style(place):
    place_files(place, {"m.yaml": manifest(
        "comm.connect-time-ms, instrument: histogram, status: retired, "
        "replaced-by: comm.connect-time, meaning: Old name of it.",
        f"comm.connect-time, instrument: timer, {GOOD}")})
    lint(place, "manifest", "m.yaml", status=0)


def splits_are_seen_across_manifests(place):
    place_files(place, {
        "a.yaml": manifest(f"comm.a.block-seen, instrument: counter, {GOOD}", prefixes="comm.a"),
        "b.yaml": manifest(f"comm.ablock.seen, instrument: counter, {GOOD}",
                           prefixes="comm.ablock").replace("team: comm", "team: b")})
    found = lint(place, "manifest", "a.yaml", "b.yaml", status=1)
    equal([finding[:4] for finding in found], [("split-name", "b.yaml", 5, 12)])
    contains(found[0][4], "comm.a.block-seen", "the other one")
    # those to compare with are not told of
    for own, other in (("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")):
        found = lint(place, "manifest", own, "--with", other, status=1)
        equal([finding[:2] for finding in found], [("split-name", own)])


def fix_respells_replacements(place):
    text = manifest("comm.old, instrument: counter, status: lost, replaced-by: comm.new_er, "
                    "meaning: Old things.", f"comm.new-er, instrument: counter, {GOOD}")
    place_files(place, {"m.yaml": text})
    (place / "m.yaml").chmod(0o640)
    _, out, _ = run_lint(place, "manifest", "--fix", "m.yaml", status=0)
    contains(out, "fixed: m.yaml:5: 'comm.new_er' -> 'comm.new-er'")
    equal((place / "m.yaml").read_text(), text.replace("new_er", "new-er"), "the manifest")
    equal((place / "m.yaml").stat().st_mode & 0o777, 0o640, "mode")
    _, out, _ = run_lint(place, "manifest", "--fix", "m.yaml", status=0)
    equal("fixed" in out, False, "a second time")


def folders_are_searched(place):
    place_files(place, {"deep/er/x.metrics.yaml": whole(["comm.a_b, instrument: counter"]),
                        "deep/other.yaml": "nothing"})
    equal(rules(lint(place, "manifest", "deep", status=1)), ["no-underscore"])
    place_files(place, {"empty/x.txt": ""})
    _, _, err = run_lint(place, "manifest", "empty", status=2)
    contains(err, "no *.metrics.yaml")


def what_cannot_be_read_is_told(place):
    place_files(place, {"bin.yaml": b"\xff\xfe\0\0garbage", "open.yaml": "metrics: [",
                        "deep.yaml": "[" * 5000})
    _, _, err = run_lint(place, "manifest", "missing.yaml", status=2)
    contains(err, "missing.yaml")
    for name in ("bin.yaml", "open.yaml", "deep.yaml"):
        equal(rules(lint(place, "manifest", name, status=1)), ["manifest-error"], name)
    _, _, err = run_lint(place, "manifest", ".", status=2)


def the_three_formats_say_the_same(place):
    place_files(place, {"m.yaml": whole(["comm.a_b, instrument: counter"])})
    _, out, _ = run_lint(place, "manifest", "m.yaml", status=1)
    contains(out, "m.yaml:5:12: error: 'comm.a_b' has an underscore")
    contains(out, "[no-underscore]\ncrest lint: 1 error\n")
    _, out, _ = run_lint(place, "manifest", "m.yaml", "--format", "github", status=1)
    contains(out, "::error file=m.yaml,line=5,col=12,title=no-underscore::'comm.a_b' has")
    found = lint(place, "manifest", "m.yaml", status=1)
    equal(found[0][:4], ("no-underscore", "m.yaml", 5, 12))


def wrong_usage_ends_with_two(place):
    for arguments in ([], ["manifest"], ["source", "x"], ["live"], ["mainfest", "x"],
                      ["manifest", "--format", "xml", "x"]):
        _, _, err = run_lint(place, *arguments, status=2)
        contains(err, "crest lint", str(arguments))
    _, out, _ = run_lint(place, "--rules", status=0)
    for rule in RULES:
        contains(out, rule)


toolslib.main([each_rule_speaks_and_keeps_silent, every_rule_has_a_case,
               an_exemption_silences_one_rule, names_no_longer_given_keep_their_style,
               splits_are_seen_across_manifests, fix_respells_replacements, folders_are_searched,
               what_cannot_be_read_is_told, the_three_formats_say_the_same,
               wrong_usage_ends_with_two])
