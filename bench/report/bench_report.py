#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a page with charts of a results file of `make bench`, and compares it with an earlier one.

    make bench-report                                            build/bench/results.json
    make bench-report BENCH_ARGS='NEW.json OLD.json'             and what changed since OLD
    make bench-report BENCH_ARGS='NEW.json OLD.json --fail-above 5'
"""

import argparse
import pathlib
import shutil
import sys

import compare_results
import gnuplot_charts
import read_results
import report_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build/bench/results.json"


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench_report.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("new", nargs="?", type=pathlib.Path, default=RESULTS,
                        help="the results (build/bench/results.json)")
    parser.add_argument("old", nargs="?", type=pathlib.Path, help="earlier ones to compare with")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench/report",
                        help="the folder of the page (build/bench/report)")
    parser.add_argument("--png", action="store_true", help="write the charts as PNG, too")
    parser.add_argument("--fail-above", type=float, metavar="PERCENT",
                        help="exit with 1 when a benchmark got worse by more, significantly")
    parsed = parser.parse_args(arguments)
    if parsed.fail_above is not None and not parsed.old:
        parser.error("--fail-above needs earlier results to compare with")
    if parsed.fail_above is not None and not parsed.fail_above >= 0:
        parser.error("--fail-above is a percentage, 0 or more")
    return parsed


def write_page(folder, blocks, png):
    """Writes index.html, report.md and charts/; returns why there are no charts, or nothing."""
    charts = folder / "charts"
    shutil.rmtree(charts, ignore_errors=True)  # those of another results file
    charts.mkdir(parents=True)
    pictures, why = report_page.drawn(blocks)
    if why:
        pictures = {}
        blocks.insert(1, report_page.Words(why, True))
    for name, svg in pictures.items():
        (charts / f"{name}.svg").write_bytes(svg)
    for chart in blocks if png else []:
        if isinstance(chart, gnuplot_charts.Chart) and chart.name in pictures:
            (charts / f"{chart.name}.png").write_bytes(gnuplot_charts.draw(chart, "png"))
    (folder / "index.html").write_text(report_page.as_html(blocks, pictures), encoding="utf-8")
    (folder / "report.md").write_text(report_page.as_markdown(blocks, pictures), encoding="utf-8")
    return why


def main(arguments):
    parsed = parse(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a locale may not have the words' every letter
    try:
        new = read_results.read(parsed.new)
        old = read_results.read(parsed.old) if parsed.old else None
    except read_results.Unreadable as why:
        print(why, file=sys.stderr)
        return 2
    comparison = compare_results.compare(old, new) if old else None
    try:
        why = write_page(parsed.output, report_page.page(new, comparison), parsed.png)
    except (OSError, gnuplot_charts.Missing) as error:
        print(f"{parsed.output}: the page cannot be written: {error}", file=sys.stderr)
        return 2
    if comparison:
        print(compare_results.as_text(comparison))
    if why:
        print(why)
    print(f"the page: {parsed.output / 'index.html'}")
    worse = comparison.worse_than(parsed.fail_above) if parsed.fail_above is not None else []
    for change in worse:
        print(f"WORSE by {change.worse_percent:.1f} %, more than {parsed.fail_above:g} %: "
              f"{change.id}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
