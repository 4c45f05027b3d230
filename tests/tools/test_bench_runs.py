# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300 slow
"""Runs of the benchmarks with sides that behave, and with sides that do not."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys

import benchlib
import toolslib
from toolslib import contains, equal

COUNTER = "crest/counter/hot/1"
A_WHILE = f"3470.{os.getpid()}"  # longer than anybody waits, and of this run only


def measures_what_the_sides_say(place):
    bench = benchlib.plant(place, fake="good")
    status, said, results = benchlib.run(bench)
    equal(status, 0, f"exit status of\n{said}")
    entry = results["benchmarks"][COUNTER]
    equal(entry["runs"], [[1.0, 1.01, 1.02]] * 2, "samples: of each run, without the first round")
    equal((entry["unit"], entry["side"], entry["disturbed"], entry["overlap_least"]),
          ("ns", "fake", 6, 0.99), "the entry")
    equal(results["checks"], {"compared": 2, "wrong": []}, "checks")
    if not 0 <= results["sides"]["fake"].pop("seconds") < 60:
        raise toolslib.Failure(f"its rounds took {results['sides']['fake']} s")
    equal(results["sides"], {"fake": {"state": "run", "versions": {"fake": "1.0"}}}, "sides")
    equal(results["missing"], {"crest/counter/hot/4-same": "there is 1 processor here"}, "missing")
    equal(sorted(results["machine"]), ["architecture", "clock", "compiler", "counters", "family",
                                       "governor", "kernel", "libc", "memory_mib", "processor",
                                       "processors", "tick_hz", "virtual"], "the machine")
    for key in ("commit", "dirty", "version", "started", "seconds", "defaults", "inputs", "load",
                "flags"):
        if key not in results:
            raise toolslib.Failure(f"there is no {key}")
    contains(said, "2 totals compared, none wrong.")
    contains(said, "not run: crest/counter/hot/4-same: there is 1 processor here")
    folder = next((place / "output/runs").iterdir())
    equal(sorted(path.name for path in folder.iterdir()),
          ["inputs", "meta.json", "profile.json", "results.json", "sides.log", "table.txt"])
    equal((folder / "results.json").read_bytes(), (place / "output/results.json").read_bytes())


def says_what_is_missed_and_what_is_not_there(place):
    bench = benchlib.plant(place, crest="good")
    status, said, results = benchlib.run(bench, "--set", "runs=1")
    contains(said, "<= 0.3 x: 0.252 (0.250-0.254): met")
    contains(said, ">= 5 x faster: 9.91 (9.82-10.0): met")
    contains(said, "crest/gauge/hot/1 / limit/store-double/hot/1")
    contains(said, "not measured: crest/gauge/hot/1: no side of this run has it")
    equal([row.get("met") for row in results["rows"] if "target" in row], [True, True, None])
    benchlib.write(bench / "targets.json", [
        {"id": COUNTER, "against": "limit/lock-xadd/hot/1", "ratio": 0.2}])
    equal(benchlib.run(bench)[0], 0, "a missed target")
    status, said, _ = benchlib.run(bench, "--strict")
    equal(status, 1, "a missed target that is an error")
    contains(said, "<= 0.2 x: MISSED by 25.9 %")
    equal(benchlib.run(bench, env={"STRICT": "1"})[0], 1, "the same by STRICT=1")
    equal(benchlib.run(bench, "--strict", "--only", "^limit/")[0], 0, "what nobody asked for")


def goes_on_without_a_side_that_fails(place):
    cases = [
        ("dies", "it ended with status 3: no memory for metrics (more in "),
        ("killed", "it ended by signal SIGKILL"),
        ("garbage", "'Segmentation fault, or so', which is no JSON"),
        ("number", "'17', which is no object"),
        ("hangs", "it said nothing for 1 s"),
        ("silent", "it said nothing for 1 s"),
        ("unknown", "it sampled 'crest/gauge/hot/1', which it had not said it has"),
        ("twice", "it sampled crest/counter/hot/1 twice in round 2"),
        ("nan", "its sample of crest/counter/hot/1 is nan"),
        ("mute", "it did not sample crest/counter/hot/1"),
        ("bad-id", "has no id PEER/OPERATION/SPREAD/THREADS"),
        ("no-list", "its first line has no benchmarks"),
        ("sorry", "it ended with status 1, although all totals were right"),
    ]
    ways = {f"x-{way}": way for way, _ in cases}
    bench = benchlib.plant(place, good="good", **ways)
    for name in ("x-hangs", "x-silent"):
        path = bench / name / "side.json"
        path.write_text(path.read_text().replace(f'"limit_s": {benchlib.LIMIT_S}', '"limit_s": 1'))
    status, said, results = benchlib.run(bench, "--only", "crest/counter")
    equal(status, 1, f"exit status of\n{said}")
    for way, words in cases:
        side = results["sides"][f"x-{way}"]
        equal(side["state"], "failed", way)
        contains(side["why"], words, way)
        contains(said, f"failed: x-{way}: ")
    equal(results["sides"]["good"]["state"], "run", "the good side")
    equal(results["benchmarks"][COUNTER]["side"], "good", "whose samples these are")
    equal(results["checks"]["compared"], 2, "of the good side")


def fails_when_a_total_is_wrong(place):
    status, said, results = benchlib.run(benchlib.plant(place, fake="wrong"))
    equal(status, 1, "exit status")
    equal(results["checks"]["wrong"],
          [{"side": "fake", "check": "counts", "found": 99, "asked": 100}] * 2, "wrong totals")
    contains(said, "WRONG: fake: counts: found 99, asked for 100")


def skips_what_cannot_be_built(place):
    bench = benchlib.plant(place, good="good", sides=["good", "bare", "broken", "gone", "lone"])
    run = [sys.executable, str(benchlib.PROGRAM), "good"]
    benchlib.write(bench / "bare/side.json", {
        "name": "bare", "run": run,
        "needs": [{"command": "no-such-compiler", "install": "Debian: no-such"}]})
    benchlib.write(bench / "broken/side.json", {
        "name": "broken", "run": run, "build": ["sh", "-c", "echo no such crate >&2; exit 4"]})
    benchlib.write(bench / "lone/side.json", {"name": "lone", "run": ["{bench}/no/such/program"]})
    status, said, results = benchlib.run(bench)
    for name, state, words in (
            ("bare", "skipped", "no-such-compiler is not installed (Debian: no-such)"),
            ("broken", "skipped", "it does not build: no such crate"),
            ("gone", "skipped", "there is no side of this name"),
            ("lone", "failed", "it cannot be started: ")):
        equal(results["sides"][name]["state"], state, name)
        contains(results["sides"][name]["why"], words, name)
        contains(said, f"{state}: {name}: ")
    equal(status, 1, "exit status, as one failed")
    bench = benchlib.plant(place, good="good", sides=["good", "bare"])
    equal(benchlib.run(bench)[0], 0, "exit status, as one is only skipped")
    status, said, _ = benchlib.run(bench, "--sides", "bare")
    equal(status, 1, "exit status, as nothing was measured")
    contains(said, "Nothing was measured: none of the sides could be run")
    status, said, _ = benchlib.run(bench, "--only", "^no-such")
    equal(status, 1, "exit status, as nothing has such an id")
    contains(said, "no benchmark of good has an id in which '^no-such' is found")


def asks_only_as_often_as_a_side_wants(place):
    bench = benchlib.plant(place, rare="rare", once="once")
    for name in ("rare", "once"):
        _, said, results = benchlib.run(bench, "--sides", name, "--rounds", "5", "--only", "crest")
        runs = results["benchmarks"][COUNTER]["runs"]
        if name == "rare":
            equal(runs, [[1.0, 1.01, 1.02, None, None]] * 2, "three rounds of five")
            equal(results["benchmarks"]["crest/memory/1000/1"]["runs"],
                  [[65, None, 67, None, None]] * 2, "each second round")
            contains(said, "66.0 (65.0-67.0) B")
        else:
            equal([len([one for one in run if one]) for run in runs], [5, 0], "one run of two")


def measures_twins_side_by_side(place):
    bench = benchlib.plant(place, fake="good")
    status, said, results = benchlib.run(bench, "--twin", "windows", "--only", "crest/counter")
    equal(status, 0, f"exit status of\n{said}")
    twin = results["twin"]
    equal((twin["setting"], twin["with"], twin["without"]), ("library.windows", "1m", "off"))
    equal(results["benchmarks"][COUNTER]["runs"][0], [1.5, 1.51, 1.52], "with")
    equal(twin["benchmarks"][COUNTER]["runs"][0], [1.0, 1.01, 1.02], "without")
    difference = twin["rows"][0]["difference"]
    equal([round(difference[key], 6) for key in ("mean", "low", "high")], [0.5, 0.5, 0.5])
    contains(said, "+0.500 [+0.500 +0.500] ns, +49.50 %")
    _, said, _ = benchlib.run(bench, "--twin", "windows", "--runs", "1")
    contains(said, "no interval: one run says nothing of others")
    path = bench / "fake/side.json"
    path.write_text(path.read_text().replace('"library"', '"colour"'))
    status, said, results = benchlib.run(bench, "--twin", "windows")
    equal((status, results), (2, None), "a switch that nobody looks at")
    contains(said, "none of the sides fake carries out library")


def refuses_what_there_is_not(place):
    bench = benchlib.plant(place, fake="good")
    for arguments, words in ((["--profile", "no"], "no profile 'no'"),
                             (["--overlay", "no"], "no overlay 'no'; there are: more, none"),
                             (["--set", "speed=1"], "no setting 'speed'"),
                             (["--sides", "no"], "no side 'no'; there are: fake"),
                             (["--sides", "fake,"], "no side ''; there are: fake"),
                             (["--runs", "0"], "runs is 0"), (["--only", "["], "regular"),
                             (["--twin", "two"], "exactly one switch"),
                             (["--defaults", "9"], "no defaults are of '9'"),
                             (["--runs", "many"], "invalid int value"), (["fast"], "fast")):
        status, said, results = benchlib.run(bench, *arguments)
        equal((status, results), (2, None), f"{arguments}: exit status, results, of\n{said}")
        contains(said, words)
        if "Traceback" in said:
            raise toolslib.Failure(said)
    status, said, _ = benchlib.run(bench, "--list")
    path = bench / "profiles/overlays/more.json"
    path.write_text(path.read_text().replace("more metrics", "more metrics \\u2026"))
    status, _, _ = benchlib.run(bench, "--list", env={"PYTHONIOENCODING": "ascii"})
    equal(status, 0, "where the locale has no such letter")
    for words in ("the base", "more metrics", "Windows cost nothing. (on / off)", "0.2.0", "fake"):
        contains(said, words)


def writes_what_there_is_when_interrupted(place):
    bench = benchlib.plant(place, slow="slow")
    output = place / "output"
    process = subprocess.Popen(
        [sys.executable, str(benchlib.BENCH / "runner/bench.py"), "--bench", str(bench),
         "--output", str(output), "--rounds", "99", "--runs", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    toolslib.await_true(lambda: "in round 1\n" in log_of(output), "it came to no round")
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=100)[0].decode()
    equal(process.returncode, 130, f"exit status of\n{said}")
    results = (output / "results.json").read_text()
    contains(results, '"interrupted": true')
    contains(results, '"compared": 1')
    contains(said, "It was interrupted")


def ends_what_it_builds_when_interrupted(place):
    bench = benchlib.plant(place, slow="slow")
    path = bench / "slow/side.json"
    described = json.loads(path.read_text())
    described["build"] = ["sh", "-c", f"echo begun > '{place}/begun'; sleep {A_WHILE} & "
                          f"sleep {A_WHILE}; true"]
    benchlib.write(path, described)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        (place / "begun").unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, str(benchlib.BENCH / "runner/bench.py"), "--bench", str(bench),
             "--output", str(place / "output")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        toolslib.await_true((place / "begun").exists, "it does not begin to build")
        process.send_signal(number)
        said = process.communicate(timeout=100)[0].decode()
        equal(process.returncode, 130, f"exit status of\n{said}")
        contains(said, "ended at once; no results were written")
        toolslib.await_true(lambda: not sleeping(A_WHILE), "what the build started is there")


def says_what_cannot_be_written(place):
    bench = benchlib.plant(place, fake="good")
    output = place / "output"
    benchlib.run(bench)
    before = (output / "results.json").read_text()
    said = not_written(bench, output, lambda: no_file_above(100), "File too large")
    equal("compared" in said, False, f"a table in\n{said}")
    equal((output / "results.json").read_text(), before, "the results of the run before")
    (output / "results.json").unlink()
    (output / "results.json").mkdir()
    said = not_written(bench, output, None, f"{output}/results.json: Is a directory")
    contains(said, "2 totals compared, none wrong.")


def not_written(bench, output, first, words):
    """What it says where it cannot write: no trace, and no half files."""
    done = subprocess.run(
        [sys.executable, str(benchlib.BENCH / "runner/bench.py"), "--bench", str(bench),
         "--output", str(output)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        timeout=300, preexec_fn=first)
    said = done.stdout.decode()
    equal(done.returncode, 1, f"exit status of\n{said}")
    contains(said, words)
    equal("Traceback" in said, False, f"a trace in\n{said}")
    equal([str(path) for path in output.rglob("*.new")], [], "half files")
    return said


def no_file_above(most):
    """As a full disk does: writing fails from there on."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def log_of(output):
    return "".join(path.read_text() for path in pathlib.Path(output).glob("runs/*/sides.log"))


def leaves_no_process_behind(place):
    bench = benchlib.plant(place, good="good")
    path = bench / "good/side.json"
    path.write_text(path.read_text().replace(
        '"run": [', f'"run": ["sh", "-c", "sleep {A_WHILE} & exec \\"$@\\"", "side", '))
    benchlib.run(bench)
    # what was killed may be on its way out
    toolslib.await_true(lambda: not sleeping(A_WHILE), "a process that the side started is there")


def sleeping(a_while):
    return [each for each in os.listdir("/proc") if each.isdigit()
            and command_line(each) == f"sleep\0{a_while}\0".encode()]


def command_line(number):
    try:
        return pathlib.Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


toolslib.main([measures_what_the_sides_say, says_what_is_missed_and_what_is_not_there,
               goes_on_without_a_side_that_fails, fails_when_a_total_is_wrong,
               skips_what_cannot_be_built, asks_only_as_often_as_a_side_wants,
               measures_twins_side_by_side, refuses_what_there_is_not,
               writes_what_there_is_when_interrupted, ends_what_it_builds_when_interrupted,
               says_what_cannot_be_written, leaves_no_process_behind])
