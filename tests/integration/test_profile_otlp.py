#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: go-servers timeout=900 sanitizers=no
"""Profiles by OTLP to the OpenTelemetry Collector, which calls them alpha: what it writes down is,
sample by sample, what pprof's form of the same samples has; and what a node sends on and on is each
sample once. A receiver that does not know profiles is told, and nothing else suffers.
"""

import collections
import json
import re
import urllib.request

import goservers
import harness
import protobuflib
from goservers import Collector
from harness import Failure, Program, contains, equal, wait_for

WORK_S = 200
LENGTH = 2  # of wire types
# What is sampled of Crest's own threads between the last report of a stop and the profiler's end;
# the program's have ended by then.
LATE = 5
PERIOD_NS = 10 ** 9 // 99


def fields_of(message):
    """{field: [values]} of any protobuf message without groups."""
    found, at = collections.defaultdict(list), 0
    while at < len(message):
        tag, at = protobuflib.varint(message, at)
        if tag & 7 == 0:
            value, at = protobuflib.varint(message, at)
        elif tag & 7 == 1:
            value, at = int.from_bytes(message[at:at + 8], "little"), at + 8
        else:
            equal(tag & 7, LENGTH, "a wire type")
            length, at = protobuflib.varint(message, at)
            value, at = message[at:at + length], at + length
        found[tag >> 3].append(value)
    return found


def numbers(packed):
    found, at = [], 0
    while at < len(packed):
        value, at = protobuflib.varint(packed, at)
        found.append(value)
    return found


def of_pprof(body):
    """{(functions, timer, stage): ns}"""
    profile = fields_of(body)
    texts = [text.decode() for text in profile[6]]
    functions = {part[1][0]: texts[part[2][0]] for part in map(fields_of, profile[5])}
    places = {}
    for part in map(fields_of, profile[4]):
        lines = [functions[fields_of(line)[1][0]] for line in part[4]]
        places[part[1][0]] = lines[0] if lines else part[3][0]
    found = collections.Counter()
    for part in map(fields_of, profile[2]):
        labels = {texts[label[1][0]]: texts[label[2][0]] for label in map(fields_of, part[3])}
        stack = tuple(places[number] for number in numbers(part[1][0]))
        found[stack, labels.get("timer"), labels.get("stage")] += numbers(part[2][0])[1]
    return found


def pair_of(attribute, texts):
    """Its key and text, either of which the collector may have put into the table of texts."""
    value = attribute.get("value", {})
    return (attribute.get("key") or texts[attribute.get("keyStrindex", 0)],
            value.get("stringValue") or texts[value.get("stringValueStrindex", 0)])


def of_collector(line):
    """The same of a line of JSON that the collector wrote, and the resource's attributes."""
    dictionary = line["dictionary"]
    texts = dictionary["stringTable"]
    attributes = [pair_of(one, texts) for one in dictionary["attributeTable"]]
    places = []
    for place in dictionary["locationTable"]:
        lines = [texts[dictionary["functionTable"][part["functionIndex"]]["nameStrindex"]]
                 for part in place.get("lines", [])]
        places.append(lines[0] if lines else int(place.get("address", 0)))
    found, resource = collections.Counter(), {}
    for part in line["resourceProfiles"]:
        resource = dict(pair_of(one, texts) for one in part["resource"]["attributes"])
        for profile in (one for scope in part["scopeProfiles"] for one in scope["profiles"]):
            kind = profile["sampleType"]
            equal((texts[kind["typeStrindex"]], texts[kind["unitStrindex"]]),
                  ("cpu", "nanoseconds"), "the type of samples")
            equal(int(profile["period"]), PERIOD_NS)
            for sample in profile["samples"]:
                labels = dict(attributes[i] for i in sample.get("attributeIndices", []))
                stack = dictionary["stackTable"][sample["stackIndex"]]["locationIndices"]
                found[tuple(places[i] for i in stack), labels.get("timer"),
                      labels.get("stage")] += sum(map(int, sample["values"]))
    return found, resource


def lines_of(collector):
    if not collector.file.exists():
        return []
    lines = collector.file.read_text(encoding="utf-8").split("\n")[:-1]
    return [line for line in map(json.loads, lines) if "resourceProfiles" in line]


def worked(place, options):
    program = Program(place, "profile_program", "profile=on,atexit=off," + options)
    contains(program.begun, "OK")
    program.do("work")
    wait_for("samples", lambda: int(program.do("samples")) > 20, seconds=WORK_S)
    return program


def the_same_samples(place):
    collector = Collector(place, profiles=True).start()
    program = worked(place, "profile.listen=off")
    samples = int(program.do(f"same {place.folder}"))
    pprof = of_pprof((place.folder / "pprof.pb").read_bytes())
    equal(sum(pprof.values()), samples * PERIOD_NS, "time of pprof's form")
    body = (place.folder / "otlp.pb").read_bytes()
    request = urllib.request.Request(collector.otlp + "/v1development/profiles", body,
                                     {"Content-Type": "application/x-protobuf"})
    with harness.OPENER.open(request, timeout=harness.ANSWER_S) as answer:
        equal(answer.status, 200)
    wait_for("the profile", lambda: lines_of(collector))
    otlp, resource = of_collector(lines_of(collector)[0])
    equal(otlp, pprof, "samples by stack, timer and stage")
    equal(resource, {"service.name": "profiled"})
    timers = {timer for _, timer, _ in pprof}
    if not timers >= {"casper.block-time", "casper.consensus"}:
        raise Failure(f"the samples' timers are {timers}")
    equal({stage for _, timer, stage in pprof if timer == "casper.consensus"}, {"voted"})
    texts = lines_of(collector)[0]["dictionary"]["stringTable"]
    pairs = [pair_of(one, texts) for one in lines_of(collector)[0]["dictionary"]["attributeTable"]]
    if not any(key == "process.executable.build_id.gnu" and re.fullmatch("[0-9a-f]{40}", value)
               for key, value in pairs):
        raise Failure(f"no mapping has its build id: {pairs}")
    program.do("stop")


def each_sample_is_sent_once(place):
    collector = Collector(place, profiles=True).start()
    program = worked(place, f"profile.listen=off,service=sent,otlp={collector.otlp},"
                     "otlp.interval=1s,profile.otlp=on,profile.otlp-interval=500ms,"
                     "otlp.compression=gzip")
    wait_for("four profiles", lambda: len(lines_of(collector)) >= 4, seconds=WORK_S)
    program.do("stop")
    taken = int(program.do("samples"))
    wait_for("all samples", lambda: arrived(collector) >= taken - LATE)
    if arrived(collector) > taken:
        raise Failure(f"{arrived(collector)} samples arrived, of {taken}")
    equal(of_collector(lines_of(collector)[0])[1]["service.name"], "sent")


def arrived(collector):
    return sum(sum(of_collector(line)[0].values()) for line in lines_of(collector)) // PERIOD_NS


def a_receiver_without_profiles_is_told(place):
    collector = Collector(place).start()
    program = worked(place, f"profile.listen=off,otlp={collector.otlp},otlp.interval=1s,"
                     "profile.otlp=on,profile.otlp-interval=500ms")
    wait_for("metrics", lambda: collector.requests(), seconds=WORK_S)
    wait_for("a refusal", lambda: "/v1development/profiles" in program.errors.read_text(),
             seconds=WORK_S)
    # the last report failed, and the stop says so
    contains(" ".join(program.tell("stop")), "404")
    for options, wanted in (("profile=on,profile.otlp=perhaps", "profile.otlp"),
                            ("profile=on,profile.otlp=on,profile.otlp-interval=1ms",
                             "profile.otlp-interval=1ms")):
        contains(Program(place, "profile_program", options).begun, wanted)


goservers.main([the_same_samples, each_sample_is_sent_once, a_receiver_without_profiles_is_told],
               "collector")
