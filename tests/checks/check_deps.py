#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/deps.sh: who is asked, who is not, and what is run. scripts/fetch-servers.sh: where the
servers are found, and what is said of those that are not.

The package tools are replaced by scripts that write down how they were called, so nothing is
looked up, downloaded or installed, and nobody needs to be root.
"""

import os
import pathlib
import pty
import shutil
import subprocess

from checklib import ROOT, Rules, command, temporary_folder

SCRIPT = ROOT / "scripts/deps.sh"
SERVERS = ROOT / "scripts/fetch-servers.sh"
MISSING = ["libck-dev", "liblmdb-dev"]
SUITES = ["checks", "unit", "concurrency", "fuzz", "examples", "tools", "jvm", "integration", "npm"]
UNSAFE = "--option=Dpkg::Options::=--force-unsafe-io"
COMMAND = "apt-get install --yes --no-install-recommends " + " ".join(MISSING)

FAKES = {
    # everything is installed but what the file `missing` names
    "dpkg-query": 'for name; do :; done\ngrep -qx "$name" "$FAKES/missing" && exit 1\n'
                  "printf installed",
    "apt-get": 'echo "${VIA:-}apt-get $*" >> "$FAKES/calls"\n'
               '[ "$1" != install ] || [ -n "${STUCK:-}" ] || : > "$FAKES/missing"',
    "sudo": 'export VIA="sudo "\n[ "$1" != -n ] || { VIA="sudo -n "; shift; }\nexec "$@"',
    "id": 'echo "${FAKE_UID:-1000}"',
}


def prepare(folder, missing):
    for name, text in FAKES.items():
        path = pathlib.Path(folder, name)
        path.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
        path.chmod(0o755)
    pathlib.Path(folder, "missing").write_text("".join(m + "\n" for m in missing),
                                               encoding="utf-8")
    pathlib.Path(folder, "calls").write_text("", encoding="utf-8")


def run(answer=None, missing=(), **environment):
    """The exit status, the output and the calls of the package tools; on a terminal if there is an
    answer to type."""
    with temporary_folder() as folder:
        prepare(folder, missing)
        variables = {k: v for k, v in os.environ.items() if k != "CI"}
        variables.update(environment, FAKES=folder, PATH=folder + ":" + os.environ["PATH"])
        if answer is None:
            done = subprocess.run(["sh", SCRIPT], env=variables, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            status, output = done.returncode, done.stdout
        else:
            status, output = on_terminal(variables, answer)
        calls = pathlib.Path(folder, "calls").read_text(encoding="utf-8").splitlines()
        return status, output.decode(), [call for call in calls if " install " in call]


def on_terminal(variables, answer):
    ours, theirs = pty.openpty()
    with subprocess.Popen(["sh", SCRIPT], env=variables, stdin=theirs, stdout=theirs,
                          stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, answer.encode() + b"\n")
        output = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux's way of saying that the other end is closed
                break
            if not piece:
                break
            output += piece
        os.close(ours)
    return process.returncode, output


def check(rules, name, result, status, said, calls):
    rules.rule(name)
    got_status, output, got_calls = result
    if got_status != status:
        rules.broken(name, f"it exited {got_status} instead of {status}: {output}")
    for part in said:
        if part not in output:
            rules.broken(name, f"it did not say {part!r} but {output!r}")
    if got_calls != calls:
        rules.broken(name, f"it called {got_calls} instead of {calls}")


# A package is a file with its name. In which package promtool lies differs between releases.
SERVERS_FAKES = {
    "apt-get": 'for name; do case $name in prometheus*|promtool) : > "$name.deb" ;; esac; done',
    "dpkg": 'name=$(basename "$2" .deb); programs=$name\n'
            '[ "$name" != prometheus ] || programs="prometheus $BESIDE"\n'
            '[ "$name" != promtool ] || programs=$APART\n'
            'mkdir -p "$3/usr/bin"\n'
            'for program in $programs; do\n'
            '    echo "echo $program" > "$3/usr/bin/$program"; chmod +x "$3/usr/bin/$program"\n'
            'done',
}


def fetch(beside="", apart=""):
    """The exit status, the output and the programs that were unpacked for the demo, of packages
    that have promtool beside Prometheus or in one of its own."""
    with temporary_folder() as folder:
        for name, text in SERVERS_FAKES.items():
            path = pathlib.Path(folder, name)
            path.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
            path.chmod(0o755)
        scripts = pathlib.Path(folder, "tree/scripts")
        scripts.mkdir(parents=True)
        shutil.copy(SERVERS, scripts)
        done = subprocess.run(
            ["sh", scripts / SERVERS.name, "demo"], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "BESIDE": beside, "APART": apart,
                 "PATH": folder + ":" + os.environ["PATH"]})
        found = pathlib.Path(folder, "tree/build/servers/root/usr/bin").glob("*")
        return done.returncode, done.stdout, sorted(path.name for path in found)


def check_servers(rules):
    wanted = ["prometheus", "prometheus-pushgateway", "promtool"]
    for name, where in (("beside Prometheus", {"beside": "promtool"}),
                        ("in a package of its own", {"apart": "promtool"})):
        rule = rules.rule(f"promtool is found {name}")
        status, output, found = fetch(**where)
        if status != 0 or found != wanted:
            rules.broken(rule, f"it exited {status} and has {found}: {output}")
    rule = rules.rule("the program that no package has is named, and no other")
    status, output, _ = fetch()
    if status == 0 or "not in them is: promtool\n" not in output:
        rules.broken(rule, f"it exited {status} and said: {output}")


def listed(*parts):
    """The packages that these parts need."""
    done = subprocess.run(["sh", SCRIPT, "--list", *parts], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, set(done.stdout.split())


def check_parts(rules):
    rule = rules.rule("each part asks for what it needs, and only it for a JDK or npm")
    parts = {part: listed(part)[1] for part in ("build", "demo", "bench", *SUITES)}
    wanted = {"build": {"gcc", "libck-dev"}, "demo": {"python3", "liblmdb-dev"},
              "unit": {"g++", "libcmocka-dev", "openssl"}, "checks": {"spin", "valgrind"},
              "integration": {"curl", "iproute2"}, "npm": {"npm", "nodejs"},
              "jvm": {"default-jdk-headless", "maven"},
              "bench": {"libbenchmark-dev", "prometheus-cpp-dev"}}
    for part, names in wanted.items():
        if not names | wanted["build"] <= parts[part]:
            rules.broken(rule, f"{part} lacks {names - parts[part]}")
    for name, its in (("npm", "npm"), ("maven", "jvm"), ("default-jdk-headless", "jvm"),
                      ("libbenchmark-dev", "bench"), ("valgrind", "checks bench"),
                      ("libcmocka-dev", " ".join(SUITES))):
        having = {part for part, names in parts.items() if name in names}
        if having != set(its.split()):
            rules.broken(rule, f"{name} is asked for by {having}")
    rule = rules.rule("without a part it is everything but the benchmark's")
    everything = set().union(*(names for part, names in parts.items() if part != "bench"))
    if listed()[1] != everything:
        rules.broken(rule, f"another: {listed()[1] ^ everything}")
    rule = rules.rule("make asks for the parts of its goal, and of SUITES")
    settings = {key: value for key, value in os.environ.items()
                if key not in ("MAKEFLAGS", "SUITES", "DEPS")}
    goals = {"check": " ".join(sorted(["build", *SUITES])), "demo": "demo",
             "check SUITES=unit,fuzz": "build fuzz unit", "deps SUITES=jvm": "build jvm",
             "servers": "integration npm"}
    for goal, said in goals.items():
        status, output = command(["make", "-n", "-C", ROOT, *goal.split()],
                                 env=settings)
        found = [line for line in output.splitlines() if line.startswith("scripts/deps.sh")]
        if status != 0 or found != [f"scripts/deps.sh {said}"]:
            rules.broken(rule, f"make {goal}: status {status}, {found}")
    rule = rules.rule("a part that there is not is an error")
    if listed("units")[0] != 2:
        rules.broken(rule, f"it says {listed('units')}")


def main():
    rules = Rules()
    check_servers(rules)
    check_parts(rules)
    installs = COMMAND.replace("--no-install-recommends", "--no-install-recommends -q")
    check(rules, "with nothing missing nothing is said or done", run(), 0, [], [])
    check(rules, "without a terminal the command is named and nothing done",
          run(missing=MISSING), 1, [f"sudo {COMMAND}", "Not installed", "CI=1"], [])
    check(rules, "a terminal is asked, and no is no",
          run("n", MISSING), 1, [f"sudo {COMMAND}", "Run it now?", "Not installed"], [])
    check(rules, "an empty answer is no",
          run("", MISSING), 1, ["Run it now?", "Not installed"], [])
    check(rules, "a terminal that says yes gets the packages",
          run("y", MISSING), 0, ["Run it now?"], [f"sudo {installs}"])
    check(rules, "CI=1 goes ahead, and never waits for a password",
          run(missing=MISSING, CI="1"), 0, [f"sudo {COMMAND}"],
          [f"sudo -n {installs.replace('-q ', f'-q {UNSAFE} ')}"])
    check(rules, "root goes ahead, without sudo",
          run(missing=MISSING, FAKE_UID="0"), 0, [f"    {COMMAND}"], [installs])
    check(rules, "what is still missing afterwards is an error that names it",
          run(missing=MISSING, FAKE_UID="0", STUCK="1"), 1,
          ["still missing: " + " ".join(MISSING)], [installs])
    rules.finish()


if __name__ == "__main__":
    main()
