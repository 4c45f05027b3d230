#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of README.md and of the pages in docs/ from a results file.

    make bench-readme                                   of build/bench/results.json, which is kept
    make bench-readme RESULTS=bench/results/X.json      of one that was kept before

Results from outside bench/results/ are copied there first, under their date and machine, with the
samples rounded to five digits. A page has a place for figures between two comments, of which the
first names the results file and the table, and everything between them is written anew:

    <!-- figures: bench/results/2026-11-22-xeon.json short -->
    <!-- end of figures -->

tests/checks/check_figures.py fails when a page says something else than its results file.
"""

import json
import os
import pathlib
import re
import statistics
import sys

import read_results
from bench_words import (against_text, found_text, id_text, peer_rank, peer_text, verdict_text,
                         wanted_text)
from read_results import bench_results, number, spread, with_range

ROOT = pathlib.Path(os.environ.get("CREST_ROOT") or pathlib.Path(__file__).parents[2]).resolve()
KEPT = pathlib.PurePosixPath("bench/results")
KEPT_BYTES_MOST = 300_000
DIGITS = 5
BLOCK = re.compile(r"<!-- figures: (\S+) (\S+) -->\n(.*?)<!-- end of figures -->", re.S)
OPENED = re.compile(r"<!-- figures\b")

# The rows of the README's table, by what is measured and what it is compared with.
SHORT = [
    ("crest/counter/hot/1", "limit/lock-xadd/hot/1"),
    ("crest/counter/random/1", "limit/thread-local-add-8-lines/hot/1"),
    ("crest/histogram/hot/1", "limit/plain-hdr/hot/1"),
    ("crest/timer/hot/1", "limit/clock-twice/hot/1"),
    ("crest/keyed-timer/hot/1", None),
    ("crest/counter/hot/1", "prometheus-cpp/counter/hot/1"),
]
# The operations of the table of peers.
BESIDE = ("counter", "gauge", "histogram", "timer", "counter-labelled", "histogram-labelled",
          "page-counters", "page-histograms")


class Unusable(Exception):
    """Figures that cannot be written, and why."""


def metrics_of(results):
    return results.part("profile").get("metrics", 1000)


def figure_row(results, row):
    cost, unit = spread(row.get("cost")), (row.get("cost") or {}).get("unit", "ns")
    verdict = verdict_text(row)
    return [id_text(row["id"], metrics_of(results)),
            with_range(cost, unit) if cost else "not measured",
            against_text(row, metrics_of(results)), found_text(row), wanted_text(row),
            f"**{verdict}**" if verdict == "MISSED" else verdict]


FIGURE_HEADERS = ["one thread where no other number is given", "median (range)", "against", "found",
                  "wanted", ""]


def short_table(results):
    """The rows of SHORT that the file has; a row with a target before one without."""
    rows = sorted(results.rows, key=lambda row: "target" not in row)
    found = []
    for name, against in SHORT:
        match = [row for row in rows if row["id"] == name and row.get("against") == against]
        if match:
            found.append(figure_row(results, match[0]))
    if not found:
        raise Unusable(f"{results.path}: none of the README's rows is in it")
    return FIGURE_HEADERS, found


def targets_table(results):
    """Every target, met or not."""
    found = [figure_row(results, row) for row in results.rows
             if isinstance(row.get("target"), dict)]
    if not found:
        raise Unusable(f"{results.path}: there is no target in it")
    return FIGURE_HEADERS, found


def crest_table(results):
    """Every benchmark of Crest in C and of the limits with one thread."""
    found = [each for each in results.benchmarks.values()
             if each.parts[0] in ("limit", "crest") and each.parts[3] == "1"]
    if not found:
        raise Unusable(f"{results.path}: neither Crest nor a limit is in it")
    rows = []
    for each in sorted(found, key=lambda each: (each.parts[0] == "limit", each.id)):
        variation = each.variation
        name = f"`{each.parts[1]}`" + ", hot" * (each.parts[2] == "hot" and
                                                 each.parts[0] != "limit")
        where = "" if each.parts[2] == "hot" else \
            f", {metrics_of(results):,} at random" if each.parts[2] == "random" else \
            f", {each.parts[2]}"
        rows.append(["limit" if each.parts[0] == "limit" else "Crest", name + where,
                     with_range((each.median, each.low, each.high), each.unit),
                     "" if variation is None else f"{100 * variation:.1f} %"])
    return ["", "benchmark", "median (range)", "variation of runs"], rows


def peers_table(results):
    """Medians of each peer, one column each, for what Crest has, too."""
    found = {}
    for each in results.benchmarks.values():
        peer, operation, where, threads = each.parts
        if operation in BESIDE and peer not in ("limit", "crest-cc"):
            found.setdefault((operation, where, threads), {})[peer] = each
    found = {key: peers for key, peers in found.items()
             if "crest" in peers and set(peers) - {"crest", "crest-exported"}}
    if not found:
        raise Unusable(f"{results.path}: no peer of Crest is in it")
    peers = sorted({peer for each in found.values() for peer in each}, key=peer_rank)
    rows = []
    for key in sorted(found, key=lambda key: (BESIDE.index(key[0]), key[2], key[1])):
        text = id_text("crest/" + "/".join(key), metrics_of(results))
        rows.append([text, *[number(found[key][peer].median) if peer in found[key] else ""
                             for peer in peers]])
    return ["median, ns", *map(peer_text, peers)], rows


TABLES = {"short": short_table, "targets": targets_table, "crest": crest_table,
          "peers": peers_table}


def first_load(value):
    """The load of the last minute, of the three that the kernel gives."""
    value = value[0] if isinstance(value, list) and value else value
    return "not said" if value is None else str(value)


def counted(number_of, what):
    return f"{'?' if number_of is None else number_of} {what}{'' if str(number_of) == '1' else 's'}"


def caption(results, name):
    """Where the figures come from: run, machine, kernel, compiler, load."""
    data, machine, load = results.data, results.part("machine"), results.part("load")
    profile = results.part("profile")
    overlays = "".join(f" with {overlay}" for overlay in data.get("overlays") or [])
    virtual = "virtual, " if str(machine.get("virtual", "")).startswith("yes") else ""
    run = (f"Medians of {counted(profile.get('runs'), 'run')} of "
           f"{counted(profile.get('rounds'), 'round')}, profile {data.get('profile_name', '?')}"
           f"{overlays}, {str(data.get('started', '?'))[:10]}, commit "
           f"{str(data.get('commit', '?'))[:12]}")
    run += " with uncommitted changes." if data.get("dirty") else "."
    where = (f"{machine.get('processor', 'An unknown processor')}, {virtual}"
             f"{counted(machine.get('processors'), 'processor')}; kernel "
             f"{machine.get('kernel', '?')}; {machine.get('compiler', '?')}; "
             f"{machine.get('libc', '?')}.")
    how = f"Load {first_load(load.get('before'))} before, {first_load(load.get('after'))} after."
    if load.get("busy"):
        how += " " + (load["busy"] if "busy" in load["busy"] else
                      f"The machine was busy: {load['busy']}")
    return f"{run}\n{where}\n{how} All of it: `{name}`."


def table_text(headers, rows):
    lines = [headers, ["---"] * len(headers), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n"
                   for line in lines)


def block(results, name, table):
    """The text of a place for figures, both comments included."""
    if table not in TABLES:
        raise Unusable(f"there is no table {table!r}; there are {', '.join(sorted(TABLES))}")
    return (f"<!-- figures: {name} {table} -->\n{table_text(*TABLES[table](results))}\n"
            f"{caption(results, name)}\n<!-- end of figures -->")


def places(text, page):
    """(results file, table) of each place for figures in a page's text."""
    found = [(match[1], match[2]) for match in BLOCK.finditer(text)]
    if len(found) != len(OPENED.findall(text)):
        raise Unusable(f"{page}: a place for figures is not `<!-- figures: FILE TABLE -->` on a "
                       "line, and `<!-- end of figures -->` on another below it")
    return found


def written(text, results, name):
    """A page's text with all of its figures from these results."""
    return BLOCK.sub(lambda match: block(results, name, match[2]), text)


def machine_word(results):
    """A word for a file's name: the last of the processor's names that says which it is."""
    processor = str(results.part("machine").get("processor", "")).split("@")[0].lower()
    known = re.search(r"xeon|epyc|ryzen|core|neoverse|graviton|altra|cortex", processor)
    return known.group() if known else "machine"


def rounded(value):
    """Numbers of five digits that count, in all of a list or an object."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value


def condensed(run):
    """The least, the median and the most sample of a run, which have the same median and range."""
    samples = sorted(sample for sample in run if sample is not None)
    return run if len(samples) < 4 else [samples[0], statistics.median(samples), samples[-1]]


def kept_text(results, every_sample=True):
    """The text of the file that is kept: its samples, and the rows that pages are made of; the
    others follow from the samples."""
    data = dict(results.data)
    if not every_sample:
        data["benchmarks"] = {name: {**each, "runs": [condensed(run) for run in each["runs"]]}
                              for name, each in data["benchmarks"].items()}
        data["kept"] = "of each run's samples the least, the median and the most"
    data["benchmarks"] = rounded(data["benchmarks"])
    data["rows"] = [rounded(row) for row in results.rows
                    if "target" in row or (row["id"], row.get("against")) in SHORT]
    try:
        return bench_results.text_of(data, separators=(",", ":"))
    except ValueError as error:
        raise Unusable(f"{results.path}: it holds what is no finite number: {error}") from error


def place_to_keep(results):
    """Where results from elsewhere go, from ROOT on, and the text of it."""
    date = str(results.data.get("started", ""))[:10]
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise Unusable(f"{results.path}: it does not say when it was started")
    name = KEPT / f"{date}-{machine_word(results)}.json"
    text = kept_text(results)
    if len(text.encode()) > KEPT_BYTES_MOST:
        text = kept_text(results, every_sample=False)
    if len(text.encode()) > KEPT_BYTES_MOST:
        raise Unusable(f"{results.path}: {len(text.encode()):,} bytes are too many to commit; "
                       f"at most {KEPT_BYTES_MOST:,} are")
    return name, text


def pages():
    """Pages with places for figures: the README and docs/."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in found
            if page.exists() and OPENED.search(page.read_text(encoding="utf-8"))]


def write_all(path):
    path = pathlib.Path(path)
    path = (path if path.exists() else ROOT / path).resolve()
    results = read_results.read(path)
    if results.part("checks").get("wrong"):
        raise Unusable(f"{path}: some of its totals were wrong")
    name, kept = KEPT / path.name, ""
    if path.parent != ROOT / KEPT:
        name, kept = place_to_keep(results)
        # The kept file is rounded, and pages must agree with it.
        results = read_results.checked(path, json.loads(kept))
    texts = {}
    for page in pages():
        text = page.read_text(encoding="utf-8")
        places(text, page)
        texts[page] = written(text, results, name)
    if not texts:
        raise Unusable("no page has a place for figures")
    if kept:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        bench_results.write_whole(ROOT / name, kept)
    for page, text in texts.items():
        page.write_text(text, encoding="utf-8")
        print(f"{page.relative_to(ROOT)}: figures of {name}")
    if results.data.get("dirty") or results.part("load").get("busy"):
        print("The captions say that the source was changed or the machine busy; another run "
              "would be better.")


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(arguments) == 1 else 2
    try:
        write_all(arguments[0] if arguments else "build/bench/results.json")
    except (read_results.Unreadable, Unusable, OSError) as why:
        print(why, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
