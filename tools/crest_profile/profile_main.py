# SPDX-License-Identifier: Apache-2.0
"""The command line of crest profile; docs/man/crest-profile.1 is its manual.

    sys.exit(main(sys.argv[1:]))

Fetches a profile from a node that runs with profile=on, or reads folded text, and writes a flame
graph to standard output and a table of the top functions to standard error.
"""

import argparse
import http.client
import os
import pathlib
import re
import sys
import urllib.error
import urllib.request

from crest_profile.profile_flame import flame_graph
from crest_profile.profile_stacks import demangled, read_folded, table, without_addresses

EXIT_UNUSABLE = 2
WALL_S = 90  # beyond a profile's own time
ANSWER_BYTES = 256 << 20
# What asking raises where nothing speaks HTTP as it should.
NO_ANSWER = (OSError, ValueError, http.client.HTTPException)


class Unusable(Exception):
    """What was asked cannot be had; the text says why."""


def listening_ports(pid):
    """The local TCP ports that a process listens on."""
    try:
        sockets = {match.group(1) for entry in os.scandir(f"/proc/{pid}/fd")
                   if (match := re.match(r"socket:\[(\d+)\]", link(entry.path)))}
    except OSError as error:
        raise Unusable(f"process {pid} cannot be looked at: {error.strerror}") from error
    ports = []
    for name in ("tcp", "tcp6"):
        lines = pathlib.Path(f"/proc/{pid}/net/{name}").read_text(encoding="ascii").splitlines()
        for fields in (line.split() for line in lines[1:]):
            if fields[3] == "0A" and fields[9] in sockets:
                ports.append(int(fields[1].rpartition(":")[2], 16))
    return ports


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def ask(url, seconds):
    with urllib.request.urlopen(url, timeout=seconds) as answer:
        text = answer.read(ANSWER_BYTES + 1)
        if len(text) > ANSWER_BYTES:
            raise ValueError(f"the answer has more than {ANSWER_BYTES} bytes")
        return text.decode("utf-8", "replace")


def base_of(target):
    """The address of a node's profiles, from a URL or a process number."""
    if not re.fullmatch("[0-9]+", target):
        return re.sub(r"/debug/pprof.*$", "", target.rstrip("/"))
    for port in listening_ports(target):
        base = f"http://127.0.0.1:{port}"
        try:
            if "Profiles" in ask(base + "/debug/pprof/", 5):
                return base
        except NO_ANSWER:  # a port of another kind: of peers, of a shell
            continue
    raise Unusable(f"process {target} serves no profiles on this machine: was it started with "
                   "profile=on?")


def fetch(target, kind, seconds):
    url = f"{base_of(target)}/debug/pprof/{kind}?folded=1&seconds={seconds}"
    try:
        return ask(url, seconds + WALL_S)
    except urllib.error.HTTPError as error:
        said = error.read().decode("utf-8", "replace").strip()
        raise Unusable(f"{url}: {error.code}: {said}") from error
    except NO_ANSWER as error:
        raise Unusable(f"{url}: {getattr(error, 'reason', error)}") from error


def options(arguments):
    parser = argparse.ArgumentParser(
        prog="crest profile", description="A flame graph (SVG, to standard output) and a table of "
        "the top functions (to standard error) of a node that runs with profile=on.")
    parser.add_argument("target", metavar="PID|URL|FILE",
                        help="the node's process, the address of its profiles, or a file of folded "
                        "text; -: standard input")
    kind = parser.add_mutually_exclusive_group()
    for name, text in (("wall", "all threads' time, sleep too, instead of CPU time"),
                       ("threads", "where every thread is now"),
                       ("slow", "the CPU time of the last minute's slowest operations only")):
        kind.add_argument(f"--{name}", dest="kind", action="store_const", const=name, help=text)
    parser.add_argument("--seconds", type=int, default=10, help="how long, 1 to 60; 10")
    parser.add_argument("--timer", help="only samples of operations of this timer")
    parser.add_argument("--top", type=int, default=20, help="lines of the table; 20; 0: none")
    parser.add_argument("--addresses", action="store_true", help="code without names by address, "
                        "not by file")
    parser.add_argument("--folded", action="store_true", help="folded text instead of a graph")
    parser.set_defaults(kind="profile")
    return parser.parse_args(arguments)


def stacks_of(chosen):
    if chosen.target == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    elif pathlib.Path(chosen.target).is_file():
        text = pathlib.Path(chosen.target).read_text(encoding="utf-8", errors="replace")
    else:
        text = fetch(chosen.target, chosen.kind, chosen.seconds)
    stacks = demangled(read_folded(text))
    if not chosen.addresses:
        stacks = without_addresses(stacks)
    if chosen.timer:
        stacks = {stack: value for stack, value in stacks.items() if f"[{chosen.timer}]" in stack}
    return stacks


def written(text):
    """Whether standard output has taken it all; if not, why is said."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
        return True
    except OSError as error:
        print(f"crest profile: standard output takes no more of the {len(text)} characters: "
              f"{error.strerror}. Send them elsewhere", file=sys.stderr)
        # what is left in the buffer is not tried again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False


def main(arguments):
    chosen = options(arguments)
    if not 1 <= chosen.seconds <= 60:
        print("crest profile: --seconds is 1 to 60", file=sys.stderr)
        return EXIT_UNUSABLE
    try:
        stacks = stacks_of(chosen)
    except (Unusable, OSError) as error:
        print(f"crest profile: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    if not stacks:
        print("crest profile: there are no samples: the node was idle, or no operation ended that "
              "was sampled (CREST_PROFILE_SCOPE)", file=sys.stderr)
        return 1
    unit = "threads" if chosen.kind == "threads" else "ns"
    if chosen.folded:
        text = "".join(f"{';'.join(stack)} {value}\n" for stack, value in sorted(stacks.items()))
    else:
        text = flame_graph(stacks, f"{chosen.kind} of {chosen.target}", unit)
    if not written(text):
        return EXIT_UNUSABLE
    if chosen.top > 0:
        sys.stderr.write(table(stacks, chosen.top, unit))
    return 0
