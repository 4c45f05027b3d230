# SPDX-License-Identifier: Apache-2.0
"""A results file as a table for people: the machine, the rows, and all that is missing."""

import re

NAME, COST, RATIO, NAMES = 38, 27, 32, 76
INDENT, WIDTH_LEAST = 6, 40  # indentation of lines that are folded for a narrow terminal
RED, PLAIN = "\033[31m", "\033[0m"


def figure(value):
    """Three digits or so, never an exponent."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3}f}"


def spread_text(spread, inverse=False):
    if inverse:
        spread = {"median": 1 / spread["median"], "min": 1 / spread["max"],
                  "max": 1 / spread["min"]}
    return f"{figure(spread['median'])} ({figure(spread['min'])}-{figure(spread['max'])})"


def cost_text(cost):
    unit = "" if cost.get("unit", "ns") == "ns" else f" {cost['unit']}"
    return spread_text(cost) + unit


def ratio_text(row):
    """Beside a limit a ratio; beside another peer, how many times faster."""
    peers = [row[key].partition("/")[0] for key in ("id", "against")]
    ratio = row["ratio"]
    if peers[1] == "limit" or peers[1].startswith("crest") or min(ratio.values()) <= 0:
        return spread_text(ratio) + " x"
    less, more = ("less", "more") if row["cost"].get("unit", "ns") == "B" else ("faster", "slower")
    if ratio["median"] <= 1:
        return f"{spread_text(ratio, inverse=True)} x {less}"
    return f"{spread_text(ratio)} x {more}"


def verdict(row):
    if "target" not in row:
        return ""
    target = row["target"]["text"]
    if "why" in row:
        return f"{target}: not measured"
    return f"{target}: {'met' if row['met'] else 'MISSED by ' + missed_by(row)}"


def missed_by(row):
    if row["target"]["kind"] == "over":
        return f"{figure(row['found'] - row['target']['value'])} {row['cost']['unit']}"
    return f"{100 * (row['part'] - 1):.1f} %"


def beside_text(row):
    """What a row is compared with, as shortly as it is clear below its own operation."""
    mine, other = row["id"].split("/"), row["against"].split("/")
    if other[1:] == mine[1:]:
        return other[0]
    if other[0] == mine[0]:
        return "/".join(other[1:])
    return "/".join(other[:2] if other[2:] == mine[2:] else other)


def row_lines(rows):
    """By operation, spread and threads; peers that already stand beside Crest are not repeated."""
    shown = {row["against"] for row in rows if "against_cost" in row}
    heading = None
    for row in rows:
        if "cost" not in row or "against" not in row and row["id"] in shown and \
                "target" not in row and not row["id"].startswith("crest"):
            continue  # targets that were not measured are told in the end, with the reason
        peer, operation = row["id"].split("/")[:2]
        where = f"{operation}, {row['text'].partition(': ')[0]}"
        if where != heading:
            heading = where
            yield ""
            yield heading
        if "against" not in row:
            yield line_of("  " + peer, cost_text(row["cost"]), "", verdict(row))
        elif "why" not in row:
            yield line_of("    / " + beside_text(row), cost_text(row["against_cost"]),
                          ratio_text(row), verdict(row))


def line_of(name, cost, ratio, target):
    return f"{name:<{NAME}} {cost:>{COST}}  {ratio:<{RATIO}}  {target}".rstrip()


def target_lines(rows):
    """Each target once more, with what was found or why nothing was."""
    judged = [row for row in rows if "target" in row]
    if not judged:
        return
    met = sum(row.get("met", False) for row in judged)
    silent = sum("why" in row for row in judged)
    yield ""
    yield (f"{len(judged)} target{'' if len(judged) == 1 else 's'}: {met} met, "
           f"{len(judged) - met - silent} missed, {silent} not measured")
    for row in judged:
        name = row["id"] + (f" / {row['against']}" if "against" in row else "")
        if "why" in row:
            yield f"  {name:<{NAMES}} {row['target']['text']:>16}: not measured: {row['why']}"
            continue
        spread = row["ratio"] if row["target"]["kind"] in ("ratio", "faster") else None
        if row["target"]["kind"] == "value":
            spread = row["cost"]
        found = figure(row["found"]) if spread is None else \
            spread_text(spread, inverse=row["target"]["kind"] == "faster")
        word = "met" if row["met"] else f"MISSED by {missed_by(row)}"
        word += ", disturbed" if row.get("disturbed") else ""
        yield f"  {name:<{NAMES}} {row['target']['text']:>16}: {found}: {word}"


def head_lines(results):
    machine, load = results["machine"], results["load"]
    yield (f"{machine['processor']} ({machine['family']}), {machine['processors']} processors, "
           f"virtual: {machine['virtual']}, Linux {machine['kernel']}")
    yield (f"{machine['compiler']}, {machine['libc']}, clock {machine['clock']}, tick "
           f"{machine['tick_hz']} Hz, governor {machine['governor']}")
    yield (f"commit {results['commit'][:12]}{' with changes' if results['dirty'] else ''}, profile "
           f"{' + '.join([results['profile_name'], *results['overlays']])}, defaults "
           f"{results['defaults']}, {results['seconds']:.0f} s")
    yield (f"load {load['before']} before, {load['after']} after; other programs {load['others']} "
           f"processors, stolen {load['steal_percent']} %")
    if load["busy"]:
        yield load["busy"]
    if machine["counters"].startswith("no "):
        yield machine["counters"][0].upper() + machine["counters"][1:] + "."
    if results.get("interrupted"):
        yield "It was interrupted: what follows is of the rounds until then."


def tail_lines(results):
    """All that the figures above do not show."""
    by_reason = {}
    for name, why in results["missing"].items():
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"not run: {', '.join(names[:3])}{rest}: {why}"
    for name, side in results["sides"].items():
        if side["state"] != "run":
            yield f"{side['state']}: {name}: {side['why']}"
    disturbed = {name: entry for name, entry in results["benchmarks"].items()
                 if entry["overlap_least"] < 0.95}
    if disturbed:
        least = min(entry["overlap_least"] for entry in disturbed.values())
        yield (f"disturbed: in {len(disturbed)} benchmarks threads did not run together for 0.95 "
               f"of the time, {least:.2f} at least: {', '.join(sorted(disturbed)[:3])}"
               f"{' …' if len(disturbed) > 3 else ''}")
    yield checks_line(results["checks"])
    for check in results["checks"]["wrong"]:
        yield (f"WRONG: {check['side']}: {check['check']}: found {check['found']}, asked for "
               f"{check['asked']}")


def checks_line(checks):
    if not checks["compared"]:
        return "No total was compared: nothing says that the work was done."
    return (f"{checks['compared']} total{'' if checks['compared'] == 1 else 's'} compared, "
            f"{len(checks['wrong']) or 'none'} wrong.")


def twin_lines(twin):
    yield ""
    yield f"Twin {twin['name']}: {twin['claim']}"
    yield (f"{twin['setting']}: with {twin['with']!r}, without {twin['without']!r}; the same "
           "otherwise.")
    yield f"  {'':<{NAME}} {'without':>{COST}} difference, 95 % interval"
    for row in twin["rows"]:
        yield (f"  {row['id']:<{NAME}} {cost_text(row['without']):>{COST}} "
               f"{difference_text(row)}")
    rows = [row for row in twin["rows"] if row["difference"]["low"] is not None]
    if rows:
        yield (f"  {len(rows)} intervals: {len(rows) * 0.05:.1f} of them miss zero by chance where "
               "there is no difference.")


def difference_text(row):
    found, unit = row["difference"], row["cost"]["unit"]
    base = row["without"]["median"]
    percent = f", {100 * found['mean'] / base:+.2f} %" if base else ""
    if found["low"] is None:
        return f"{found['mean']:+.3f} {unit}{percent}; no interval: one run says nothing of others"
    text = f"{found['mean']:+.3f} [{found['low']:+.3f} {found['high']:+.3f}] {unit}{percent}"
    if found["low"] <= 0 <= found["high"]:
        most = max(abs(found["low"]), abs(found["high"]))
        return f"{text}; not resolved: at most {most:.3f} {unit}"
    return text


def folded(line, width):
    """A line for a terminal that is narrower: broken between its columns, or else its words."""
    while len(line) > width:
        begins = max(INDENT, len(line) - len(line.lstrip())) + 1
        at = line.rfind("  ", begins, width + 1)
        at = line.rfind(" ", begins, width + 1) if at < 0 else at
        if at < 0:
            break
        yield line[:at].rstrip()
        line = " " * INDENT + line[at:].lstrip()
    yield line


def table(results, colour=False, width=None):
    """The whole text; for a terminal of `width` columns, if it is given."""
    lines = list(head_lines(results))
    lines += ["", line_of("", "ns: median (min-max)", "to it: median (min-max)", "target")]
    lines += row_lines(results["rows"])
    if "twin" in results:
        lines += twin_lines(results["twin"])
    lines += target_lines(results["rows"])
    lines += tail_lines(results)
    text = []
    for line in lines:
        red = colour and re.match(r"WRONG|failed|.*: MISSED by", line)
        for part in folded(line, max(width, WIDTH_LEAST)) if width else [line]:
            text.append(f"{RED}{part}{PLAIN}" if red else part)
    return "\n".join(text) + "\n"
