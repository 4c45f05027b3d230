# SPDX-License-Identifier: Apache-2.0
"""A side of the benchmarks that measures nothing and misbehaves on demand, for test_bench_runs.py.

    python3 bench_side_program.py WAY --inputs=DIR --only=REGEX

Its samples follow from the round, so that what becomes of them can be told beforehand: the counter
has 1.00, 1.01, 1.02 …, the peer ten times as much. WAY is what it does beside that.
"""

import json
import os
import re
import sys
import time

WAY = sys.argv[1]
OPTIONS = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[2:])
IDS = {"crest/counter/hot/1": 1.0, "prometheus-cpp/counter/hot/1": 10.0,
       "limit/lock-xadd/hot/1": 4.0}
RARE = "crest/memory/1000/1"


def say(what):
    print(json.dumps(what), flush=True)


def workload():
    with open(os.path.join(OPTIONS["inputs"], "workload.txt"), encoding="utf-8") as lines:
        return dict(line.rstrip("\n").partition(" ")[::2] for line in lines)


def hello(ids):
    listed = [{"id": name, "unit": "ns"} for name in ids]
    first = {"side": "fake", "versions": {"fake": "1.0"}, "benchmarks": listed,
             "missing": [{"id": "crest/counter/hot/4-same", "why": "there is 1 processor here"}]}
    if WAY == "rare":
        listed.append({"id": RARE, "unit": "B", "every": 2})
        first["rounds"] = 3
    if WAY == "once":
        first["runs"] = 1
    if WAY == "bad-id":
        listed.append({"id": "Crest counter", "unit": "ns"})
    if WAY == "no-list":
        first = {"side": "fake"}
    say(first)


def samples(number, ids, settings):
    more = 0.5 if "windows=1m" in settings.get("library", "") else 0
    for name in ids:
        value = IDS[name] + max(number - 1, 0) / 100 + more
        if WAY == "nan" and number == 2:
            value = float("nan")
        say({"id": name, "value": round(value, 3), "disturbed": 1, "overlap": 0.99})
        if WAY == "twice" and number == 2:
            say({"id": name, "value": 1})
    if WAY == "rare" and number > 0 and (number - 1) % 2 == 0:
        say({"id": RARE, "value": 64 + number})
    if WAY == "unknown" and number == 2:
        say({"id": "crest/gauge/hot/1", "value": 1})


def misbehave(number):
    if WAY == "slow":
        print(f"in round {number}", file=sys.stderr, flush=True)
        time.sleep(0.2)
    if number != 2:
        return
    if WAY == "dies":
        print("no memory for metrics", file=sys.stderr, flush=True)
        sys.exit(3)
    if WAY == "killed":
        os.kill(os.getpid(), 9)
    if WAY == "garbage":
        print("Segmentation fault, or so", flush=True)
    if WAY == "number":
        print("17", flush=True)
    if WAY == "hangs":
        time.sleep(60)


def main():
    if WAY == "silent":
        time.sleep(60)
    ids = [name for name in IDS if re.search(OPTIONS["only"], name)]
    settings = workload()
    hello(ids)
    for line in sys.stdin:
        if line.startswith("round "):
            number = int(line.split()[1])
            misbehave(number)
            samples(number, [] if WAY == "mute" and number == 2 else ids, settings)
            say({"done": "round"})
        else:
            found = 99 if WAY == "wrong" else 100
            say({"check": "counts", "found": found, "asked": 100})
            say({"done": "finish"})
            sys.exit(WAY in ("wrong", "sorry"))


main()
