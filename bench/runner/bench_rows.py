# SPDX-License-Identifier: Apache-2.0
"""The rows of the table: the cost of each operation, its comparisons, and the targets met.

bench/targets.json names pairs to compare, with a target or without; every other side that measured
the same operation in the same way is compared with Crest besides.
"""

import json
import re
import statistics

import bench_sides
import bench_stats

TARGETS = bench_sides.BENCH / "targets.json"
KINDS = ("ratio", "over", "value", "faster")
OVERLAP_LEAST = 0.95  # of the time, that threads have to run together
OWN_PEERS = ("crest", "crest-cc", "crest-exported", "crest-java")
ORDER = ("counter", "gauge", "histogram", "timer", "keyed-timer", "range-sampler")


def read_targets(path=TARGETS):
    targets = json.loads(path.read_text(encoding="utf-8"))
    for each in targets:
        kinds = [kind for kind in KINDS if kind in each]
        names = [each["id"], *([each["against"]] if "against" in each else [])]
        if len(kinds) > 1 or not all(bench_sides.ID.fullmatch(name) for name in names) or \
                set(each) - {"id", "against", *KINDS} or \
                (kinds == ["value"]) == ("against" in each):
            raise ValueError(f"{path}: {json.dumps(each)} is no target")
    return targets


def place(name):
    """Where an id belongs: threads and spreads in the order of their numbers."""
    peer, operation, spread, threads = name.split("/")
    number = int(spread) if spread.isdigit() else -1
    many = int(re.match(r"\d+", threads).group())
    main = next((one for one in ORDER if operation == one), operation)
    rank = ORDER.index(main) if main in ORDER else len(ORDER)
    own = OWN_PEERS.index(peer) if peer in OWN_PEERS else len(OWN_PEERS)
    return rank, main, number, spread, many, threads, own, peer


def words(name):
    """`hot, 1 thread` of an id."""
    _, _, spread, threads = name.split("/")
    number, _, how = threads.partition("-")
    which = {"same": " on the same", "separate": ", each on its own"}.get(how, "")
    spread = f"{int(spread):,}" if spread.isdigit() else spread
    return f"{spread}, {number} thread{'' if number == '1' else 's'}{which}"


def pairs(benchmarks, targets):
    """What is compared with what: by id, entries of the targets, then the others."""
    found = {}
    for each in targets:
        found.setdefault(each["id"], []).append(each)
    for name in benchmarks:
        peer, _, rest = name.partition("/")
        beside = found.setdefault(name, [])
        against = [each.get("against") for each in beside]
        if peer == "crest":
            same = [other for other in benchmarks if other.partition("/")[2] == rest
                    and other.partition("/")[0] not in OWN_PEERS]
        elif peer == "crest-java":
            same = [other for other in benchmarks if other.partition("/")[2] == rest
                    and other.startswith("java-")]
        else:
            same = []
        beside += [{"id": name, "against": other} for other in sorted(same)
                   if other not in against]
    return found


def cost_of(benchmarks, name):
    entry = benchmarks.get(name)
    cost = bench_stats.spread(entry["runs"]) if entry else None
    return {**cost, "unit": entry["unit"]} if cost else None


def make_rows(benchmarks, targets, why_not=lambda name: "", asked=lambda name: True):
    """All rows. `why_not` says why a benchmark is not there; targets that the run was narrowed to
    exclude (`asked` is false) are left out."""
    rows = []
    beside = pairs(benchmarks, targets)
    for name in sorted(beside, key=place):
        peer, operation = name.split("/")[:2]
        cost = cost_of(benchmarks, name)
        if cost and not any("value" in each for each in beside[name]):
            rows.append({"section": operation, "text": f"{words(name)}: {peer}", "id": name,
                         "cost": cost})
        for each in beside[name]:
            if any(kind in each for kind in KINDS) or each["against"] in benchmarks:
                row = compared(benchmarks, each, cost, why_not, asked)
                rows += [row] if row else []
    return rows


def compared(benchmarks, each, cost, why_not, asked):
    name, against = each["id"], each.get("against")
    row = {"section": name.split("/")[1], "text": words(name) + ": " + name.split("/")[0],
           "id": name}
    kind = next((kind for kind in KINDS if kind in each), None)
    if kind:
        row["target"] = target_of(kind, each[kind], benchmarks.get(name, {}).get("unit", "ns"))
    if against:
        row["against"] = against
        row["text"] += f", beside {against}"
    other = cost_of(benchmarks, against) if against else None
    if cost:
        row["cost"] = cost
    missing = [one for one, found in ((name, cost), (against, other)) if one and not found]
    if not missing and against:
        row["against_cost"] = other
        ratios = bench_stats.ratios(benchmarks[name]["runs"], benchmarks[against]["runs"])
        row["ratio"] = bench_stats.spread(ratios)
        if row["ratio"] is None:
            return {**row, "why": "no round has both"} if kind else None
    if missing:
        wanted = kind and asked(name) and (not against or asked(against))
        return {**row, "why": f"{missing[0]}: {why_not(missing[0])}"} if wanted else None
    if any(benchmarks[one]["overlap_least"] < OVERLAP_LEAST for one in (name, against) if one):
        row["disturbed"] = True
    if kind:
        row.update(judge(kind, each[kind], row, benchmarks))
    return row


def target_of(kind, value, unit):
    text = {"ratio": f"<= {value:g} x", "over": f"<= {value:g} {unit} more",
            "value": f"<= {value:g} {unit}", "faster": f">= {value:g} x faster"}[kind]
    return {"kind": kind, "value": value, "text": text}


def judge(kind, value, row, benchmarks):
    """The finding, in the words of the target, and how much of its allowance it uses."""
    if kind == "over":
        more = bench_stats.differences(benchmarks[row["id"]]["runs"],
                                       benchmarks[row["against"]]["runs"])
        found = statistics.median(bench_stats.medians(more))
        part = max(found, 0) / value
    elif kind == "faster":
        ratio = row["ratio"]["median"]
        found = 1 / ratio if ratio > 0 else float("inf")
        part = value * ratio
    else:
        found = row["ratio"]["median"] if kind == "ratio" else row["cost"]["median"]
        part = found / value
    return {"found": found, "part": part, "met": part <= 1}
