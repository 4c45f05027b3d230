#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks: every side, interleaved, and writes build/bench/results.json and a table.

    make bench                                                 the profile `base`
    make bench BENCH_ARGS='--overlay quick'                    a minute of it
    make bench BENCH_ARGS='--sides crest,go --only counter'    a part of it
    make bench BENCH_ARGS='--defaults 0.1.0'                   under the defaults of then
    make bench BENCH_ARGS='--twin windows'                     what one switch costs
    make bench BENCH_ARGS=--list                               profiles, overlays, twins, sides

Exits with 1 when a side failed or a total was wrong, with --strict (STRICT=1) also when a target
was missed; with 2 for an unknown profile, side or setting; with 130 when interrupted,
having written what there was. bench/README.md says how it works.
"""

import argparse
import datetime
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import bench_inputs
import bench_machine
import bench_profile
import bench_results
import bench_rounds
import bench_rows
import bench_sides
import bench_stats
import bench_table
from bench_profile import Refused

# Signals that end it as Ctrl-C does; not those that nohup has it ignore.
ENDING = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
          if signal.getsignal(number) != signal.SIG_IGN]
OUTPUT = bench_sides.ROOT / "build" / "bench"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="make bench", allow_abbrev=False,
                                     description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--profile", default="base", help="a file of bench/profiles")
    parser.add_argument("--overlay", action="append", default=[], metavar="NAME",
                        help="a file of bench/profiles/overlays to lay over it; again for another")
    parser.add_argument("--defaults", metavar="VERSION|DATE", help="as they were then")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a setting, dotted below objects; again for another")
    parser.add_argument("--runs", type=int, help="how often all sides are started anew")
    parser.add_argument("--rounds", type=int, help="how many samples a run takes")
    parser.add_argument("--only", metavar="REGEX", help="benchmarks whose id it is found in")
    parser.add_argument("--sides", metavar="A,B", help="these sides")
    parser.add_argument("--twin", metavar="NAME", help="one of bench/profiles/twins.json")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    parser.add_argument("--list", action="store_true", help="say what there is, and end")
    parser.add_argument("--build", default="build/release", help="of which variant")
    parser.add_argument("--bench", type=Path, default=bench_sides.BENCH, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=OUTPUT, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def list_all(catalogue, described):
    """The command line."""
    folder = catalogue.folder
    for what, place in (("profiles", folder), ("overlays", folder / "overlays")):
        print(f"{what}:")
        for name in bench_profile.file_names(place):
            if name not in ("history", "twins"):
                text = bench_profile.named(place, name, what).get("text", "")
                print(f"  {name:<16} {text}")
    print("twins:")
    twins = bench_profile.read_json(folder / "twins.json", "the twins")
    for name, twin in twins.items():
        print(f"  {name:<16} {twin['claim']} ({twin['with']} / {twin['without']})")
    print("defaults:")
    for entry in catalogue.history:
        print(f"  {entry['date']} {entry.get('version', ''):<6} {entry['text']}")
    print("sides:")
    for name, side in described.items():
        print(f"  {name:<16} {side.get('text', '')}")


class Plan:
    """The profile of the command line, folded and checked."""

    def __init__(self, arguments):
        self.catalogue = bench_profile.Catalogue(arguments.bench / "profiles")
        self.described = bench_sides.describe_sides(arguments.bench)
        self.targets = bench_rows.read_targets(arguments.bench / "targets.json")
        settings = list(arguments.set)
        for key in ("runs", "rounds", "only", "sides"):
            value = getattr(arguments, key)
            settings += [f"{key}={value}"] if value is not None else []
        self.arguments = arguments
        self.twin = None
        if arguments.twin:
            self.twin = bench_profile.Twin(self.catalogue, arguments.twin,
                                           lambda more: self.fold(more, settings))
            self.profile, self.defaults = self.twin.profile, self.twin.words
        else:
            self.profile, self.defaults = self.fold([], settings)
        self.overlays = arguments.overlay + ([self.twin.overlays[0]] if self.twin else [])
        self.only = self.profile["only"]
        if self.twin and arguments.only is None:
            self.only = self.twin.only
        asked = [] if arguments.sides is None else arguments.sides.split(",")
        unknown = [name for name in asked if name not in self.described]
        if unknown:
            raise Refused(f"there is no side {unknown[0]!r}; there are: "
                          f"{', '.join(self.described)}")

    def fold(self, more, settings):
        arguments = self.arguments
        return self.catalogue.fold(arguments.profile, [*arguments.overlay, *more],
                                   arguments.defaults, settings)

    def carries_out(self, name):
        """Whether a side reads the twin's switch; without a twin, yes."""
        wanted = self.twin.lines() if self.twin else set()
        return wanted <= set(self.described[name].get("carries_out", []))

    def look_at_the_switch(self):
        """Refuses a twin whose switch no side would read: it would find no difference."""
        if not self.twin:
            return
        there = [name for name in self.profile["sides"] if name in self.described]
        if not any(self.carries_out(name) for name in there):
            raise Refused(f"twin {self.twin.name}: none of the sides {', '.join(there)} carries "
                          f"out {', '.join(sorted(self.twin.lines()))}, so there is nothing to "
                          "find")


def make_folder(output, profile_name):
    """A new folder of the run's own."""
    now = datetime.datetime.now(datetime.timezone.utc)
    for number in range(1, 100):
        name = f"{now:%Y-%m-%dT%H%M%SZ}-{profile_name}" + (f"-{number}" if number > 1 else "")
        try:
            (output / "runs" / name).mkdir(parents=True)
            return output / "runs" / name, now
        except FileExistsError:
            continue
    raise Refused(f"{output / 'runs'} has too many runs of this second")


def build_all(plan, log):
    """The sides that can be run, and what became of the others."""
    ready, states = [], {}
    for name in plan.profile["sides"]:
        try:
            if name not in plan.described:
                raise bench_sides.Skipped("there is no side of this name below bench/")
            if not plan.carries_out(name):
                raise bench_sides.Skipped("it does not carry out the switch of this twin")
            if plan.described[name].get("build"):
                print(f"building {name}", file=sys.stderr, flush=True)
            bench_sides.build_side(plan.described[name], plan.arguments.build, log)
            ready.append(plan.described[name])
        except bench_sides.Skipped as why:
            print(f"{name}: skipped: {why}", file=sys.stderr, flush=True)
            states[name] = {"state": "skipped", "why": str(why), "versions": {}}
    return ready, states


def measure(plan, folder, ready, log):
    """All runs; what was collected, and how busy it was."""
    variants, inputs = {}, {}
    profiles = {"": plan.profile}
    if plan.twin:
        profiles = {"": plan.twin.profile, bench_rounds.WITHOUT: plan.twin.without}
    for variant, profile in profiles.items():
        place = folder / f"inputs{'-' + variant if variant else ''}"
        inputs[variant] = bench_inputs.write_inputs(place, profile)
        variants[variant] = (bench_rounds.Collected(), place)
    rounds = bench_rounds.Rounds(ready, plan.arguments.build, log, plan.only, variants)

    def interrupt(*_):
        if rounds.interrupted:
            raise KeyboardInterrupt
        print("\nfinishing this round; again to end at once", file=sys.stderr, flush=True)
        rounds.interrupt()

    handlers = {number: signal.signal(number, interrupt) for number in ENDING}
    watch = bench_machine.Watch()
    progress = bench_rounds.Progress(plan.profile["runs"], plan.profile["rounds"])
    try:
        rounds.run_all(plan.profile["runs"], plan.profile["rounds"], progress)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return rounds, inputs[""], watch.judge()


def why_not_of(results):
    """A function that says why a benchmark is not among the results."""
    def why_not(name):
        if name in results["missing"]:
            return results["missing"][name]
        peer = name.partition("/")[0]
        for side, state in results["sides"].items():
            known = side == peer or peer.startswith(side + "-") or \
                side in ("crest", "whole") and peer in ("crest-cc", "crest-exported", "limit")
            if known and state["state"] != "run":
                return f"{side} was {state['state']}: {state['why']}"
        return "no side of this run has it"
    return why_not


def twin_of(plan, with_it, without):
    rows = []
    for name, entry in with_it.benchmarks.items():
        other = without.benchmarks.get(name)
        if other is None:
            continue
        found = bench_stats.mean_interval(bench_stats.differences(entry["runs"], other["runs"]))
        if found:
            rows.append({"id": name, "cost": bench_rows.cost_of(with_it.benchmarks, name),
                         "without": bench_rows.cost_of(without.benchmarks, name),
                         "difference": found})
    twin = plan.twin
    return {"name": twin.name, "claim": twin.claim, "setting": twin.setting,
            "with": twin.values[0], "without": twin.values[1],
            "benchmarks": without.benchmarks, "rows": rows}


def run_plan(plan):
    folder, now = make_folder(plan.arguments.output, plan.arguments.profile)
    results = {"format": bench_results.FORMAT, "started": f"{now:%Y-%m-%dT%H:%M:%SZ}",
               "seconds": 0, **bench_machine.describe_source(), "interrupted": False,
               "arguments": sys.argv[1:],
               "profile_name": plan.arguments.profile, "overlays": plan.overlays,
               "defaults": plan.defaults, "profile": {**plan.profile, "only": plan.only},
               "flags": bench_machine.text_of(bench_sides.ROOT / plan.arguments.build / "flags"),
               "machine": bench_machine.describe_machine()}
    bench_results.write_whole(folder / "profile.json", bench_results.text_of(results["profile"]))
    bench_results.write_whole(folder / "meta.json", bench_results.text_of(results))
    with open(folder / "sides.log", "wb") as log:
        ready, states = build_all(plan, log)
        begun = time.monotonic()
        rounds, inputs, load = measure(plan, folder, ready, log)
    collected = rounds.variants[""][0]
    states.update(rounds.states)
    results.update(seconds=round(time.monotonic() - begun, 1), interrupted=rounds.interrupted,
                   load=bench_machine.judge_limits(load, collected.benchmarks), inputs=inputs,
                   sides={name: states[name] for name in plan.profile["sides"]})
    bench_results.write_whole(folder / "meta.json", bench_results.text_of(results))
    wrong = [{key: check[key] for key in ("side", "check", "found", "asked")}
             for check in rounds.checks if check["found"] != check["asked"]]
    results.update(benchmarks=collected.benchmarks, missing=collected.missing,
                   checks={"compared": sum(check["asked"] != 0 for check in rounds.checks),
                           "wrong": wrong})
    if plan.twin:
        results["twin"] = twin_of(plan, collected, rounds.variants[bench_rounds.WITHOUT][0])
    narrowed = re.compile(plan.only).search
    results["rows"] = bench_rows.make_rows(
        collected.benchmarks, [] if plan.twin else plan.targets, why_not_of(results),
        lambda name: bool(narrowed(name)) and asked_for(name, results["sides"]))
    return folder, results


def asked_for(name, sides):
    """Whether one of the sides has this peer: limits and Crest are in sides of other names."""
    peer = name.partition("/")[0]
    own = peer in bench_rows.OWN_PEERS[:3] or peer == "limit"
    return any(side == peer or peer.startswith(side + "-") or own and side in ("crest", "whole")
               for side in sides)


def write_all(folder, results, output):
    """The table first: where nothing can be written it is all that the run leaves."""
    table = bench_table.table(results)
    columns = shutil.get_terminal_size().columns
    print(bench_table.table(results, colour=True, width=columns) if sys.stdout.isatty() else table,
          end="", flush=True)
    text = bench_results.text_of(results)
    bench_results.write_whole(folder / "results.json", text)
    bench_results.write_whole(folder / "table.txt", table)
    bench_results.write_whole(output / "results.json", text)
    print(f"\nAll of it: {os.path.relpath(folder)}")


def nothing_measured(results):
    ran = [name for name, side in results["sides"].items() if side["state"] == "run"]
    if not ran:
        return "Nothing was measured: none of the sides could be run, for the reasons above."
    return (f"Nothing was measured: no benchmark of {', '.join(ran)} has an id in which "
            f"{results['profile']['only']!r} is found; bench/README.md, \"Ids\", says what there "
            "is.")


def exit_status(results, strict):
    if results["interrupted"]:
        return 130
    failed = any(side["state"] == "failed" for side in results["sides"].values())
    missed = any("target" in row and not row.get("met", True) for row in results["rows"])
    if not results["benchmarks"]:
        print(nothing_measured(results), file=sys.stderr)
    return 1 if failed or results["checks"]["wrong"] or not results["benchmarks"] or \
        strict and missed else 0


def end_at_once(*_):
    raise KeyboardInterrupt


def main():
    arguments = parse(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a locale may not have the table's every letter
    for number in ENDING:
        signal.signal(number, end_at_once)
    try:
        plan = Plan(arguments)
        if arguments.list:
            list_all(plan.catalogue, plan.described)
            return 0
        plan.look_at_the_switch()
        folder, results = run_plan(plan)
        write_all(folder, results, arguments.output)
    except Refused as why:
        print(f"make bench: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("make bench: ended at once; no results were written", file=sys.stderr)
        return 130
    except OSError as why:
        print(f"make bench: {why.filename or arguments.output}: {why.strerror}; without it there "
              "are no results but what was printed", file=sys.stderr)
        return 1
    return exit_status(results, arguments.strict or
                       os.environ.get("STRICT", "0") not in ("", "0"))


if __name__ == "__main__":
    sys.exit(main())
