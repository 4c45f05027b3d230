# SPDX-License-Identifier: Apache-2.0
"""Profiles of the benchmarks: the history, overlays, settings, twins; and those of the tree."""

import json

import benchlib
import toolslib
from toolslib import contains, equal

import bench_inputs
import bench_profile
import bench_rows
from bench_profile import Refused


def catalogue(place, **options):
    return bench_profile.Catalogue(benchlib.plant(place, **options) / "profiles")


def refused(what, *words):
    """The words of a refusal that must come."""
    try:
        what()
    except Refused as why:
        for word in words:
            contains(str(why), word, "the refusal")
        return
    raise toolslib.Failure(f"nothing was refused; wanted {words}")


def lays_objects_over_each_other(_):
    under = {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": [1, 2]}
    cases = [
        ({"a": 5}, {"a": 5, "b": {"c": 2, "d": {"e": 3}}, "f": [1, 2]}),
        ({"b": {"d": {"e": 4}}}, {"a": 1, "b": {"c": 2, "d": {"e": 4}}, "f": [1, 2]}),
        ({"b": {"c": None}}, {"a": 1, "b": {"d": {"e": 3}}, "f": [1, 2]}),
        ({"b": None}, {"a": 1, "f": [1, 2]}),
        ({"b": {}}, {"a": 1, "b": {}, "f": [1, 2]}),
        ({"f": [3]}, {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": [3]}),
        ({"b": 7}, {"a": 1, "b": 7, "f": [1, 2]}),
        ({"g": {"h": None, "i": 1}}, {**under, "g": {"i": 1}}),
    ]
    before = json.dumps(under)
    for over, wanted in cases:
        equal(bench_profile.laid_over(under, over), wanted, f"under {over}")
    equal(json.dumps(under), before, "what lay under")


def folds_the_history(place):
    profiles = catalogue(place)
    cases = [
        (None, [1, 2], 2.0, True, "of 2020-03-01, after version 0.2.0"),
        ("0.1.0", [1], 1.5, False, "of 2020-01-01, version 0.1.0"),
        ("v0.1", [1], 1.5, False, "of 2020-01-01, version 0.1.0"),
        ("0.2.0", [1, 2], 2.0, False, "of 2020-02-01, version 0.2.0"),
        ("2020-01-31", [1], 1.5, False, "of 2020-01-01, version 0.1.0"),
        ("2020-02-01", [1, 2], 2.0, False, "of 2020-02-01, version 0.2.0"),
        ("2026-01-01", [1, 2], 2.0, True, "of 2020-03-01, after version 0.2.0"),
    ]
    for up_to, threads, sigma, has_series, words in cases:
        profile, said = profiles.fold(defaults=up_to)
        equal((profile["threads"], profile["values"]["sigma"], "series" in profile, said),
              (threads, sigma, has_series, words), f"defaults {up_to}")
        equal(profile["values"]["median_ns"], 1000, "what was never changed")
    refused(lambda: profiles.fold(defaults="0.3.0"), "0.3.0", "0.1.0, 0.2.0")
    refused(lambda: profiles.fold(defaults="2019-12-31"), "2019-12-31", "2020-01-01")
    refused(lambda: profiles.fold(defaults="2020-13-45"), "2020-13-45", "no date")
    for nothing in ("", "v"):
        refused(lambda one=nothing: profiles.fold(defaults=one), "neither a date nor one of")


def lays_overlays_and_settings_over_a_profile(place):
    profiles = catalogue(place)
    profile, _ = profiles.fold("base", ["more", "on"], None,
                               ["runs=9", "library.windows=off", "threads=1,4", "values.sigma=1",
                                "sides=a,b", "only=^crest/", "library.jitter=null"])
    equal((profile["metrics"], profile["runs"], profile["rounds"], profile["threads"]),
          (12, 9, 3, [1, 4]), "settings")
    equal(profile["library"], {"interval": "60s", "windows": "off"}, "options of the library")
    equal((profile["sides"], profile["only"], profile["text"]), (["a", "b"], "^crest/", "the base"))


def refuses_what_is_none(place):
    profiles = catalogue(place)
    cases = [
        ("thread=2", "no setting 'thread'", "threads"),
        ("values.sigmoid=2", "values.sigmoid"),
        ("threads=two", "threads", "whole numbers"),
        ("threads=[]", "threads is empty"),
        ("threads=0", "threads is 0", "at least 1"),
        ("metrics=1.5", "metrics is 1.5", "a whole number"),
        ("metrics=true", "metrics is true", "a number"),
        ("metrics=17", "2 label keys of 4 values", "17 metrics"),
        ("started=1", "started is 1", "true or false"),
        ("runs=0", "runs is 0"),
        ("rounds=99999999999999999999999", "rounds is 99999999999999999999999", "10,000 at most"),
        ("metrics=1000000000", "1,000,000 at most"),
        ("values.sigma=Infinity", "values.sigma is inf", "at most"),
        ("values.sigma=NaN", "values.sigma is nan", "at least 0"),
        ("values.most_ns=1000000000000000000000", "values.most_ns"),
        ("runs=null", "runs cannot be taken away"),
        ("values=7", "values is 7", "an object"),
        ("values.distribution=zipf", "zipf", "log-normal"),
        ("values.most_ns=10", "least_ns"),
        ("bounds_ns=3,2", "ascend"),
        ("sides=a,b,a", "sides has 'a' twice"),
        ("metrics=null", "no metrics"),
        ("only=(", "regular expression"),
        ("novalue", "key=value"),
        ("library.windows=1m\n2m", "line feed"),
    ]
    for setting, *words in cases:
        refused(lambda one=setting: profiles.fold(settings=[one]), *words)
    refused(lambda: profiles.fold("bass"), "no profile 'bass'", "base")
    refused(lambda: profiles.fold("history"), "no profile 'history'")
    refused(lambda: profiles.fold(overlays=["../base"]), "no overlay '../base'", "more")
    for content, words in (("{", "no JSON"), ("[1]", "a list"), ('{"runs": 1, "runs": 2}', "twice"),
                           ('{"library": {"windows": 5}}', "library.windows")):
        (place / "bench/profiles/overlays/more.json").write_text(content, encoding="utf-8")
        refused(lambda: profiles.fold(overlays=["more"]), words)


def refuses_a_history_that_is_none(place):
    good = benchlib.HISTORY
    for history, words in (([], "no list"), ([{"date": "2020-01-01"}], "changes"),
                           ([{**good[0], "date": "yesterday"}], "date"),
                           ([good[1], good[0]], "order")):
        benchlib.write(place / "bench/profiles/history.json", history)
        refused(lambda: bench_profile.Catalogue(place / "bench/profiles"), words)


def writes_the_workload(place):
    profiles = catalogue(place)
    profile, _ = profiles.fold(overlays=["on"], settings=["scraped=true", "library.service=a, 'b'"])
    settings = bench_profile.workload_settings(profile)
    equal((settings["threads"], settings["scraped"], settings["values.sigma"]), ("1 2", "1", "2.0"))
    equal(settings["library"], "interval=60s,windows=1m,jitter=0.1,service=\"a, 'b'\"")
    equal("library" in bench_profile.workload_settings(profiles.fold()[0]), False, "not started")


def writes_the_same_inputs_each_time(place):
    profile, _ = catalogue(place).fold()
    first = bench_inputs.write_inputs(place / "one", profile)
    equal(bench_inputs.write_inputs(place / "two", profile), first, "hashes")
    equal(sorted(first), ["bounds.txt", "even.i64", "labels.txt", "names.txt", "order.u32",
                          "values.i64", "workload.txt"])
    equal([(place / "one" / name).stat().st_size for name in ("values.i64", "order.u32")],
          [65536 * 8, 65536 * 4], "bytes")
    labels = (place / "one/labels.txt").read_text().splitlines()
    equal((len(labels), len(set(labels)), labels[5]), (10, 10, "v0-1\tv1-1"), "labels")
    equal((place / "one/bounds.txt").read_text(), "1000\n2000\n", "bounds")
    other, _ = catalogue(place).fold(settings=["values.seed=8"])
    if bench_inputs.write_inputs(place / "two", other)["values.i64"] == first["values.i64"]:
        raise toolslib.Failure("another seed made the same values")


def twins_differ_by_one_switch(place):
    profiles = catalogue(place)

    def twin(name):
        return bench_profile.Twin(profiles, name, lambda more: profiles.fold(overlays=more))

    windows = twin("windows")
    equal((windows.setting, windows.values, windows.lines()),
          ("library.windows", ("1m", "off"), {"library"}))
    refused(lambda: twin("two"), "exactly one switch", "differ by 2: library.windows, started")
    refused(lambda: twin("same"), "differ by 0: nothing")
    refused(lambda: twin("gone"), "no twin 'gone'", "same, two, windows")


def the_profiles_of_the_tree_fold(_):
    profiles = bench_profile.Catalogue()
    overlays = bench_profile.file_names(bench_profile.PROFILES / "overlays")
    for name in bench_profile.file_names(bench_profile.PROFILES):
        if name not in ("history", "twins"):
            profiles.fold(name)
    for overlay in overlays:
        profiles.fold(overlays=[overlay])
    for entry in profiles.history:
        profiles.fold(defaults=entry["date"])
    for name in json.loads((bench_profile.PROFILES / "twins.json").read_text()):
        bench_profile.Twin(profiles, name, lambda more: profiles.fold(overlays=more))
    if len(bench_rows.read_targets()) < 20:
        raise toolslib.Failure("bench/targets.json has lost targets")


toolslib.main([lays_objects_over_each_other, folds_the_history,
               lays_overlays_and_settings_over_a_profile, refuses_what_is_none,
               refuses_a_history_that_is_none, writes_the_workload,
               writes_the_same_inputs_each_time, twins_differ_by_one_switch,
               the_profiles_of_the_tree_fold])
