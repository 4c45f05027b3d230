#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1200 slow
"""The Scala example: RNode's Metrics[F] on Crest. It is compiled with warnings as errors, prints on
the newest JDK, or with JDKS=all on every one, what its .expected says, and what it promises is
checked by scala/MetricsChecks.scala.

The compiler comes from Maven (scala/pom.xml). Where it cannot be fetched, that is a failure only in
CI, as with the servers of the integration tests."""

import os
import re
import shutil
import subprocess
import sys

import jvmlib

HERE = jvmlib.ROOT / "tests/jvm/scala"
EXAMPLE = jvmlib.ROOT / "examples/jvm/scala"
MADE = jvmlib.MADE / "scala"
LAST_LINE = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def compiler():
    """The compiler's class path, which Maven has to say only once."""
    wanted = (HERE / "pom.xml").read_text(encoding="utf-8")
    known, listed = MADE / "pom.xml", MADE / "compiler.classpath"
    if known.exists() and listed.exists() and known.read_text(encoding="utf-8") == wanted:
        path = listed.read_text(encoding="utf-8").strip()
        if all(os.path.exists(entry) for entry in path.split(":")):
            return path
    MADE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*os.environ.get("MVN", "mvn").split(), "-B", "-q", "-Dstyle.color=never", "-f",
         HERE / "pom.xml", "dependency:build-classpath", f"-Dmdep.outputFile={listed}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=900, check=False)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        if os.environ.get("CI", "") not in ("", "0", "false"):
            sys.exit("no Scala compiler: Maven could not fetch it")
        jvmlib.skip("no Scala compiler: Maven could not fetch it")
    shutil.copy(HERE / "pom.xml", known)
    return listed.read_text(encoding="utf-8").strip()


def library(path):
    return next(entry for entry in path.split(":") if "/scala-library-" in entry)


def compiled(jdk, path, tally):
    """Whether the example and its checks compile."""
    classes = MADE / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir()
    sources = sorted([*EXAMPLE.glob("*.scala"), *HERE.glob("*.scala")])
    status, output = jvmlib.bounded(
        [jdk.java, "-Xss8m", "-cp", path, "scala.tools.nsc.Main", "-deprecation", "-feature",
         "-Xlint", "-Werror", "-cp", f"{jvmlib.jar()}:{library(path)}", "-d", classes, *sources],
        None, 2 * jvmlib.TIMEOUT_S)
    if status != 0:
        tally.problem(f"{jdk}: the example does not compile", output)
    return status == 0


def run(jdk, path, main):
    return jvmlib.bounded(
        [jdk.java, *jdk.options(), "-cp",
         f"{jvmlib.jar()}:{library(path)}:{MADE / 'classes'}", main], None,
        jvmlib.TIMEOUT_S)


def prints_what_it_says(jdk, path, tally):
    wanted = (EXAMPLE / "Node.expected").read_text(encoding="utf-8")
    status, output = run(jdk, path, "rnode.Node")
    if status == 0 and output == wanted:
        tally.passed += 1
        print(f"ok   {jdk}: Node.scala")
    else:
        tally.problem(f"{jdk}: Node.scala: status {status}, it is to print\n{wanted}", output)


def keeps_its_promises(jdk, path, tally):
    status, output = run(jdk, path, "rnode.metrics.MetricsChecks")
    print(f"{jdk}:\n{output}")
    last = LAST_LINE.match((output.strip().splitlines() or [""])[-1])
    if not last or (status != 0) != (int(last.group(2)) > 0):
        tally.problem(f"{jdk}: the checks ended with status {status}", output)
        return
    tally.passed += int(last.group(1))
    tally.failed += int(last.group(2))


def main():
    jdks = jvmlib.needs("built")
    path = compiler()
    tally = jvmlib.Tally()
    if compiled(jvmlib.jdks()[0], path, tally):
        for jdk in jdks:
            prints_what_it_says(jdk, path, tally)
            keeps_its_promises(jdk, path, tally)
    tally.finish()


if __name__ == "__main__":
    main()
