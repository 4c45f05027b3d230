# SPDX-License-Identifier: Apache-2.0
"""What the tests of tools/ share: running functions as tests, and the closing count.

    import toolslib

    def finds_the_line(place):              # a pathlib.Path, a folder of the test's own
        toolslib.equal(1 + 1, 2, "sum")

    toolslib.main([finds_the_line])

It puts tools/ on the path, so that `import crest_catalogue` is what a tool imports.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
BUILD = pathlib.Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
CC = os.environ.get("CC", "gcc").split()
CXX = os.environ.get("CXX", "g++").split()
EXIT_SKIPPED = 77
PATIENCE_S = 100

sys.path.insert(0, str(TOOLS))
sys.dont_write_bytecode = True


class Failure(Exception):
    """A test's own finding; shown without a trace."""


class Skip(Exception):
    """The test cannot run here; says why."""


def equal(found, wanted, what="value"):
    """Fails with both values."""
    if found != wanted:
        raise Failure(f"{what}:\n  found  {found!r}\n  wanted {wanted!r}")


def contains(text, part, what="text"):
    """Fails with the text."""
    if part not in text:
        raise Failure(f"{what}: {part!r} is not in\n{text}")


def lacks(text, part, what="text"):
    """Fails with the text."""
    if part in text:
        raise Failure(f"{what} has what it should not have:\n  {part!r}\n{text}")


def await_true(condition, otherwise):
    """Waits until it holds; nothing takes as long as this gives it, also on a busy machine."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            raise Failure(f"after {PATIENCE_S} s: {otherwise}")
        time.sleep(0.02)


def command(arguments, status=0, **options):
    """Runs a program that must end with this status; returns what it printed, both streams."""
    done = subprocess.run([str(part) for part in arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    said = done.stdout.decode("utf-8", "replace")
    if status is not None and done.returncode != status:
        raise Failure(f"{' '.join(str(part) for part in arguments)}\n  ended with status "
                      f"{done.returncode}, wanted {status}:\n{said}")
    return said


def forked(main, arguments, cwd, given=b""):
    """What a program of ours does, without starting Python anew, which takes longer than most of
    what is tested: (exit status, stdout, stderr) of main(arguments) in a fork of this process,
    with bytes as its standard input."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:
        stdin.write(given)
        stdin.seek(0)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.chdir(cwd)
                for number, file in enumerate((stdin, out, err)):
                    os.dup2(file.fileno(), number)
                sys.stdin, sys.stdout, sys.stderr = (open(number, mode, encoding="utf-8")
                                                     for number, mode in enumerate("rww"))
                signal.alarm(PATIENCE_S)
                status = main(arguments)
            except SystemExit as end:
                status = end.code
            except BaseException:  # as Python ends with one that nothing catches
                traceback.print_exc()
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status or 0)
        ended = os.waitpid(child, 0)[1]
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
        return os.waitstatus_to_exitcode(ended), *texts


def main(tests):
    """Runs each in a folder of its own and ends the program."""
    passed = failed = skipped = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="crest-tools-") as folder:
            try:
                test(pathlib.Path(folder))
                print(f"ok   {test.__name__}")
                passed += 1
            except Skip as why:
                print(f"skip {test.__name__}: {why}")
                skipped += 1
            except Failure as failure:
                print(f"FAIL {test.__name__}: {failure}")
                failed += 1
            except Exception:  # a test that breaks is a test that fails
                print(f"FAIL {test.__name__}: {traceback.format_exc()}")
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else EXIT_SKIPPED if not passed else 0)
