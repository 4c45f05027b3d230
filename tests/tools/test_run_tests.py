#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/run-tests over small trees: what it counts, what it shows of a failure, and what it runs
a second time."""

import os
import shutil
import signal
import subprocess
import sys

import toolslib
from toolslib import equal

# What every program of a tree begins with: it counts its runs.
HEAD = "import os, pathlib, sys\nruns = pathlib.Path(__file__).with_suffix('.runs')\n" \
       "runs.write_text(runs.read_text() + '.' if runs.exists() else '.')\n" \
       "first = runs.read_text() == '.'\n"
PASSES = "print('2 passed, 0 failed, 0 skipped')\n"
FAILS = "print('what it expected')\nprint('1 passed, 1 failed, 0 skipped')\nsys.exit(1)\n"
UNSTEADY = f"if first:\n    {FAILS.replace(chr(10), chr(10) + '    ', 2)}{PASSES}"
SKIPS = "print('no such thing here')\nsys.exit(77)\n"
DIES = "os.kill(os.getpid(), 11)\n"
CMOCKA = """#!/bin/sh
cat <<END
[==========] Running 3 test(s).
[ RUN      ] test_one
[       OK ] test_one
[ RUN      ] test_two
[  ERROR   ] --- 1 != 2
[  FAILED  ] test_two
[ RUN      ] test_three
[       OK ] test_three
[==========] 3 test(s) run.
[  PASSED  ] 2 test(s).
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] test_two
END
exit 1
"""


def run(place, tests, programs=(), arguments=(), history=None, must_run=None, builder=None,
        times=None):
    """Runs the runner over the tests, by their names and texts, with a history of unsteady ones,
    rules of what must run, a scripts/build-servers and the times of a run before, if any; gives
    exit status, lines, and the runs of each test."""
    root = place / "tree"
    shutil.rmtree(root, ignore_errors=True)
    (root / "scripts").mkdir(parents=True)
    shutil.copy(toolslib.ROOT / "scripts/run-tests", root / "scripts")
    if builder is not None:
        (root / "scripts/build-servers").write_text(builder, encoding="utf-8")
        (root / "scripts/build-servers").chmod(0o755)
    for name, text in tests.items():
        path = root / f"tests/tools/test_{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + text, encoding="utf-8")
    for name, text in dict(programs).items():
        for path in (root / f"tests/{name}.c", root / f"build/tests/{name}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if path.suffix == "" else "", encoding="utf-8")
            path.chmod(0o755)
    env = {key: value for key, value in os.environ.items()
           if key not in ("SAN", "CREST_SAN", "ONCE", "CI", "CREST_MUST_RUN")}
    if history is not None:
        (root / "build").mkdir(exist_ok=True)
        (root / "build/unsteady.log").write_text(history, encoding="utf-8")
    if times is not None:
        (root / "build").mkdir(exist_ok=True)
        (root / "build/test-times").write_text(times, encoding="utf-8")
    if must_run is not None:
        (root / "must-run").write_text(must_run, encoding="utf-8")
        env["CREST_MUST_RUN"] = "must-run"
    done = subprocess.run([sys.executable, root / "scripts/run-tests", "--build", root / "build",
                           "--suites", "unit concurrency tools", *arguments], env=env,
                          capture_output=True, text=True, timeout=170, check=False)
    equal(done.stderr, "", "what it says as an error")
    runs = {path.stem.removeprefix("test_"): len(path.read_text())
            for path in root.glob("tests/tools/*.runs")}
    return done.returncode, done.stdout.splitlines(), runs


def counts_what_the_programs_say(place):
    status, lines, runs = run(place, {"a": PASSES, "b": SKIPS, "c": PASSES})
    equal(status, 0, "exit status")
    equal(lines[-1], "4 passed, 0 failed, 1 skipped", "last line")
    equal(runs, {"a": 1, "b": 1, "c": 1}, "runs")


def runs_once_more_what_failed_by_its_own_word(place):
    status, lines, runs = run(place, {"a": PASSES, "b": UNSTEADY})
    equal(status, 0, "exit status")
    equal(runs, {"a": 1, "b": 2}, "runs")
    equal(lines[-3], "Unsteady, for they passed only when run again: tools/test_b", "it is said")
    equal(lines[-2], "1 unsteady; build/unsteady.log keeps them", "and counted")
    equal(lines[-1], "4 passed, 0 failed, 0 skipped", "last line")
    equal([line[:4] for line in lines if "test_b" in line], ["FAIL", "ok  ", "Unst"], "its lines")
    equal("     | what it expected" in lines, True, "what it said at first is shown")
    log = place / "tree/build/test-logs/tools.test_b.first.log"
    equal("what it expected" in log.read_text(encoding="utf-8"), True, "and kept")


def keeps_a_history_of_what_was_unsteady(place):
    run(place, {"a": PASSES, "b": UNSTEADY})
    history = place / "tree/build/unsteady.log"
    first = history.read_text(encoding="utf-8").splitlines()
    equal(first[0].split()[1:], ["build", "tools/test_b"], "the build and the program")
    equal("    what it expected" in first, True, "what it said at first")
    kept = history.read_text(encoding="utf-8") * 3
    _, lines, _ = run(place, {"b": UNSTEADY}, history=kept)
    equal(lines[-3], "Unsteady, for they passed only when run again: tools/test_b (the 4th time)",
          "how often it was so")
    equal(history.read_text(encoding="utf-8").startswith(kept), True, "what was there stays")
    run(place, {"b": UNSTEADY}, history=kept * 1000)
    equal(len(history.read_text(encoding="utf-8").splitlines()), 2000, "and has an end")
    _, lines, _ = run(place, {"a": PASSES, "b": FAILS})
    equal((history.exists(), [line for line in lines if "unsteady" in line]), (False, []),
          "one that fails is not unsteady")


def fails_what_must_run_and_is_skipped(place):
    some = "print('skip one')\nprint('1 passed, 0 failed, 1 skipped')\n"
    tests = {"a": PASSES, "b": SKIPS, "c": some, "d": SKIPS}

    def last(rules, **settings):
        status, lines, _ = run(place, tests, must_run=rules, **settings)
        return status, lines[-1], sorted(line.split()[-1] for line in lines
                                         if line[:8] == "Skipped,")

    equal(last("# nothing\n"), (0, "3 passed, 0 failed, 3 skipped", []), "no rule")
    equal(last("whole tools/* # all\nany tools/test_d"),
          (1, "3 passed, 2 failed, 1 skipped", ["tools/test_b", "tools/test_c"]), "whole")
    equal(last("some tools/*"),
          (1, "3 passed, 2 failed, 1 skipped", ["tools/test_b", "tools/test_d"]), "some")


def knows_what_ci_expects_to_run(place):
    rules = (toolslib.ROOT / ".ci/must-run").read_text(encoding="utf-8")
    skips = "#!/bin/sh\nexit 77\n"
    status, lines, _ = run(place, {"a": PASSES}, {"concurrency/test_single_step": skips,
                                                  "unit/test_clock": skips}, must_run=rules)
    equal((status, lines[-1]), (1, "2 passed, 2 failed, 0 skipped"), "what CI says")
    named = [word for line in rules.splitlines() for word in line.split("#")[0].split()[1:]]
    for name in named:
        folder, _, rest = name.partition("/")
        found = list((toolslib.ROOT / "tests" / folder).glob(f"**/{rest}.*"))
        found = found or folder == "examples"
        equal(bool(found), True, f"there is a test {name}")


def fails_what_skips_without_a_reason(place):
    silent = "print('ok one')\nprint('2 passed, 0 failed, 1 skipped')\n"
    none = "print('skip two: no kernel')\nprint('0 passed, 0 failed, 1 skipped')\nsys.exit(77)\n"
    cmocka = CMOCKA.replace("[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] test_two",
                            "[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] test_two")
    cmocka = cmocka.replace("[  FAILED  ]", "[  SKIPPED ]").replace("exit 1", "exit 0")
    said = cmocka.replace("[  ERROR   ] --- 1 != 2", "there is no moon")
    unsaid = cmocka.replace("[  ERROR   ] --- 1 != 2\n", "")
    _, lines, _ = run(place, {"a": "sys.exit(77)\n", "b": silent, "c": none},
                      {"unit/test_x": said, "unit/test_y": unsaid}, arguments=["--once"])
    equal(lines[-1], "6 passed, 3 failed, 4 skipped", "last line")
    reasons = {line.split()[1]: line.split("  (")[-1] for line in lines if "  (" in line}
    equal(reasons, {"tools/test_a": "skipped, and it does not say why)",
                    "tools/test_b": "some of it is skipped, and it does not say why)",
                    "unit/test_y": "some of it is skipped, and it does not say why)",
                    "tools/test_c": "skip two: no kernel)"}, "reasons")
    equal("       skipped test_two: there is no moon" in lines, True, "that of a cmocka program")


def begins_with_what_may_take_long(place):
    tests = {"a": PASSES, "b": PASSES, "c": "# crest-test: timeout=200\n" + PASSES,
             "d": "# crest-test: timeout=190 alone\n" + PASSES}
    _, lines, _ = run(place, {name: f"{text}import time; time.sleep({name == 'c'} * 2)\n"
                              for name, text in tests.items()})
    ended = [line.split()[1] for line in lines if " tools/test_" in line]
    equal(ended, [f"tools/test_{name}" for name in "abcd"], "the order in which they end")
    said = [line for line in lines if line.startswith("processor seconds: ")]
    equal(len(said), 1, "lines with the processor seconds")


def leaves_slow_ones_out_unless_told(place):
    told = "print('quick:', os.environ['CREST_QUICK'])\n"
    tests = {"a": told + PASSES, "b": "# crest-test: slow\n" + PASSES}

    def quick():
        log = place / "tree/build/test-logs/tools.test_a.log"
        return log.read_text(encoding="utf-8").splitlines()[0]

    status, lines, runs = run(place, tests)
    equal((status, runs, quick()), (0, {"a": 1}, "quick: 1"), "without a word")
    equal("Left to `make check-all`, for they take long: tools/test_b" in lines, True, "it is said")
    _, lines, runs = run(place, tests, arguments=["--all"])
    equal((runs, quick()), ({"a": 1, "b": 1}, "quick: "), "with --all")
    equal([line for line in lines if "check-all" in line], [], "and then nothing is said")
    equal(run(place, tests, arguments=["--match", "test_b"])[2], {"b": 1}, "asked for by name")


def begins_with_the_longest_of_last_time(place):
    tests = {"a": PASSES, "b": f"{PASSES}import time; time.sleep(1)\n",
             "c": "# crest-test: timeout=200\n" + PASSES}
    times = "tools/test_a 0.10 0.02\ntools/test_b 9.00 3.00\ntools/test_c 0.10 0.02\n"
    _, lines, _ = run(place, tests, times=times)
    kept = (place / "tree/build/test-times").read_text(encoding="utf-8").splitlines()
    equal([line.split()[0] for line in kept], sorted(f"tools/test_{name}" for name in tests),
          "times kept")
    equal(times.splitlines()[1] in kept, False, "the new time takes the place of the old one")
    began = [line.split()[1] for line in lines if " tools/test_" in line]
    equal(began[-1], "tools/test_b", "the longest ends last, having begun first")


def builds_servers_beside_what_needs_none(place):
    """The one that needs them begins when they are built, though its timeout is the longest; the
    other runs meanwhile, and the builder waits here until that has ended."""
    has_ended = "tests/tools/test_other.ended"
    builder = "#!/bin/sh\nuntil [ -e " + has_ended + " ]; do sleep 0.05; done; echo $1 > built\n"
    tests = {"other": f"open('{has_ended}', 'w').close()\n" + PASSES,
             "wants": "# crest-test: timeout=300 go-servers\nopen('built').close()\n" + PASSES,
             "alone": "# crest-test: go-servers alone\nopen('built').close()\n" + PASSES}
    status, lines, _ = run(place, tests, builder=builder)
    equal((status, lines[-1]), (0, "6 passed, 0 failed, 0 skipped"), "last line")
    equal([line.split()[1] for line in lines[:3]],
          ["tools/test_other", "tools/test_wants", "tools/test_alone"], "their order")
    equal((place / "tree/built").read_text(), "--beside\n", "how the builder is called")
    status, lines, _ = run(place, {"other": PASSES}, builder="#!/bin/sh\ntouch built\n")
    equal((status, (place / "tree/built").exists()), (0, False), "nothing is built that none needs")


def fails_what_fails_twice(place):
    status, lines, runs = run(place, {"a": PASSES, "b": FAILS})
    equal((status, runs), (1, {"a": 1, "b": 2}), "exit status and runs")
    equal(lines[-1], "3 passed, 1 failed, 0 skipped", "last line")
    equal([line for line in lines if line.startswith("Unsteady")], [], "nothing is unsteady")


def ci_fails_from_two_unsteady_on(place):
    root = place / "ci"
    (root / ".ci").mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "scripts").mkdir()
    shutil.copy(toolslib.ROOT / ".ci/run", root / ".ci")
    make = root / "bin/make"
    other = root / "scripts/in-debian"
    says = "#!/bin/sh\n[ \"$CREST_MUST_RUN\" = .ci/must-run ] || echo no rules\n" \
           "echo $* >> goals\n" \
           "[ -e ran ] || echo '1 unsteady; build/unsteady.log keeps them'\n{}\n" \
           "echo '5 passed, 0 failed, 1 skipped'\n"

    load = root / "loadavg"

    def last(then, elsewhere="echo no moon here; exit 77", busy=0):
        of_all = 4.1 * busy * len(os.sched_getaffinity(0))
        load.write_text(f"0.10 90.00 {of_all:.2f} 1/2 3\n", encoding="ascii")
        make.write_text(says.format(then), encoding="utf-8")
        other.write_text(f"#!/bin/sh\n{elsewhere}\n", encoding="utf-8")
        make.chmod(0o755)
        other.chmod(0o755)
        done = subprocess.run([root / ".ci/run"], capture_output=True, text=True, check=False,
                              timeout=300, env={**os.environ, "PATH": f"{root}/bin:/usr/bin:/bin",
                                                "CREST_LOADAVG": str(load)})
        lines = done.stdout.splitlines()
        equal("no rules" in lines, False, "rules of what must run are given to make")
        equal("skip: no moon here" in lines, "moon" in elsewhere, "why there is no other release")
        return done.returncode, lines[-2:]

    equal(last(""), (1, ["3 unsteady, which is more than 1: counted as failed",
                         "15 passed, 3 failed, 4 skipped"]), "one in each run")
    equal(last("", busy=1)[1], ["3 unsteady, which is more than 2: counted as failed",
                                "15 passed, 3 failed, 4 skipped"], "on a machine that is busy")
    equal(last("", busy=2), (0, ["3 unsteady", "15 passed, 0 failed, 4 skipped"]), "busier")
    equal(last("touch ran"), (0, ["1 unsteady", "15 passed, 0 failed, 4 skipped"]), "one in all")
    equal(last("")[1][-1], "15 passed, 0 failed, 4 skipped", "none")
    equal(last("", "echo 4 passed, 0 failed, 2 skipped")[1][-1], "19 passed, 0 failed, 5 skipped",
          "with another release")
    goals = (root / "goals").read_text(encoding="utf-8").splitlines()[:3]
    equal([line.split("WERROR=1 ")[1] for line in goals],
          ["check-all", "SAN=address,undefined check", "SAN=thread check"], "what make is to do")
    status, lines = last("", "exit 1")
    equal((status, lines[-1]), (1, "15 passed, 1 failed, 3 skipped"), "with one that breaks")


def runs_nothing_again_after_a_signal_or_when_told(place):
    status, lines, runs = run(place, {"a": f"if first:\n    {DIES}{PASSES}"})
    equal((status, runs), (1, {"a": 1}), "exit status and runs after a signal")
    equal("(signal SIGSEGV)" in lines[0], True, "the reason")
    status, lines, runs = run(place, {"a": UNSTEADY}, arguments=["--once"])
    equal((status, runs), (1, {"a": 1}), "exit status and runs with --once")


def runs_nothing_again_when_much_failed(place):
    status, lines, runs = run(place, {name: UNSTEADY for name in "abcdef"})
    equal((status, runs), (1, {name: 1 for name in "abcdef"}), "exit status and runs")
    equal(lines[-1], "6 passed, 6 failed, 0 skipped", "last line")


def shows_the_failed_ones_of_a_cmocka_program(place):
    status, lines, _ = run(place, {}, {"unit/test_x": CMOCKA})
    equal(status, 1, "exit status")
    equal(lines[1:4], ["     | [ RUN      ] test_two", "     | [  ERROR   ] --- 1 != 2",
                       "     | [  FAILED  ] test_two"], "what is shown")
    equal(lines[5].endswith("(run again)"), True, "and the second run comes next")
    equal(lines[-1], "2 passed, 1 failed, 0 skipped", "last line")


def shows_all_of_one_that_broke(place):
    broken = CMOCKA.replace("exit 1", "echo and then it broke; kill -SEGV $$")
    status, lines, _ = run(place, {}, {"unit/test_x": broken})
    equal(status, 1, "exit status")
    equal("     | and then it broke" in lines, True, "all that it said is shown")


def lets_tests_be_interrupted_that_it_may_not_be(place):
    listens = "import signal\nignored = [number for number in (1, 2, 3, 15)\n" \
              "           if signal.getsignal(number) == signal.SIG_IGN]\n" \
              "print(len(ignored), 'ignored')\nsys.exit(len(ignored))\n"
    before = {number: signal.signal(number, signal.SIG_IGN)
              for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)}
    try:
        status, lines, _ = run(place, {"a": listens})
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    equal((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"), "what is ignored by a test")


def runs_no_stress_test_again(place):
    status, lines, _ = run(place, {}, {"concurrency/test_x": CMOCKA})
    equal(status, 1, "exit status")
    equal([line for line in lines if "run again" in line], [], "no second run")


if __name__ == "__main__":
    toolslib.main([counts_what_the_programs_say, runs_once_more_what_failed_by_its_own_word,
                   keeps_a_history_of_what_was_unsteady, fails_what_must_run_and_is_skipped,
                   builds_servers_beside_what_needs_none,
                   fails_what_skips_without_a_reason, begins_with_what_may_take_long,
                   begins_with_the_longest_of_last_time, leaves_slow_ones_out_unless_told,
                   knows_what_ci_expects_to_run, ci_fails_from_two_unsteady_on,
                   fails_what_fails_twice, runs_nothing_again_after_a_signal_or_when_told,
                   runs_nothing_again_when_much_failed, shows_the_failed_ones_of_a_cmocka_program,
                   shows_all_of_one_that_broke,
                   lets_tests_be_interrupted_that_it_may_not_be, runs_no_stress_test_again])
