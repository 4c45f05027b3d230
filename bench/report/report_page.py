# SPDX-License-Identifier: Apache-2.0
"""Turns results into a page: blocks first, which are written as HTML and as Markdown then."""

import base64
import dataclasses
import html

import chart_choice
import compare_results
import gnuplot_charts
from bench_words import against_text, found_text, id_text, verdict_text, wanted_text
from read_results import number, spread, with_range

STYLE = """
body { font: 15px/1.5 'DejaVu Sans', Arial, sans-serif; color: #222; background: #fff;
       max-width: 960px; margin: 2em auto; padding: 0 1em; }
h1, h2 { line-height: 1.2; margin-top: 1.6em; } h1 { margin-top: 0; }
table { border-collapse: collapse; font-size: 13px; margin: .8em 0; }
th, td { border-bottom: 1px solid #ddd; padding: .25em .6em; text-align: left;
         vertical-align: top; }
th { border-bottom: 2px solid #999; } td.n, th.n { text-align: right; white-space: nowrap; }
.warn { border-left: 4px solid #c62828; background: #fdf1f1; padding: .5em .8em; margin: .5em 0; }
.MISSED, .worse { color: #c62828; font-weight: bold; } .met, .better { color: #1e7040; }
img { max-width: 100%; height: auto; display: block; margin: 1em 0; }
"""

MACHINE_WORDS = {"processor": "processor", "family": "family", "processors": "processors",
                 "memory_mib": "memory, MiB", "kernel": "kernel", "compiler": "compiler",
                 "libc": "C library", "clock": "clock", "tick_hz": "timer ticks a second",
                 "governor": "governor", "virtual": "virtual", "counters": "hardware counters"}


@dataclasses.dataclass
class Heading:
    text: str
    level: int = 2


@dataclasses.dataclass
class Words:
    text: str
    warning: bool = False


@dataclasses.dataclass
class Table:
    headers: list
    rows: list
    numbers: tuple = ()   # columns that are set to the right


def machine_blocks(results):
    machine, data = results.part("machine"), results.data
    profile = results.part("profile")
    overlays = ", ".join(data.get("overlays") or []) or "none"
    rows = [[words, str(machine[key])] for key, words in MACHINE_WORDS.items() if key in machine]
    rows += [
        ["started", f"{data.get('started', 'not said')}, for {data.get('seconds', '?')} s"],
        ["source", f"{data.get('version', '')} {data.get('commit', 'not said')}"
                   + (", with uncommitted changes" if data.get("dirty") else "")],
        ["built with", str(data.get("flags") or "not said")],
        ["profile", f"{data.get('profile_name', 'not said')}; overlays: {overlays}; defaults: "
                    f"{data.get('defaults') or 'of today'}"],
        ["runs, rounds", f"{profile.get('runs', '?')}, {profile.get('rounds', '?')} of each run"],
        ["load", load_text(results)],
    ]
    return [Table(["", ""], rows)] + warning_blocks(results)


def load_text(results):
    load = results.part("load")
    before, after = first_number(load.get("before")), first_number(load.get("after"))
    steal = load.get("steal_percent")
    return f"{before} before, {after} after" + ("" if steal is None else
                                                f"; {number(steal)} % of the time stolen")


def first_number(value):
    """The load of the last minute, of the three that the kernel gives."""
    if isinstance(value, list):
        value = value[0] if value else None
    return "not said" if value is None else str(value)


def busy_text(busy):
    """The sentence of a results file, which may already name its subject."""
    return busy if "busy" in busy else f"The machine was busy: {busy}"


def warning_blocks(results):
    blocks = []
    busy = results.part("load").get("busy")
    if busy:
        blocks.append(Words(busy_text(busy), True))
    if results.data.get("dirty"):
        blocks.append(Words("The source had uncommitted changes.", True))
    for wrong in results.part("checks").get("wrong") or []:
        blocks.append(Words(f"WRONG TOTAL of {wrong.get('side')}: {wrong.get('check')} found "
                            f"{wrong.get('found')}, asked {wrong.get('asked')}.", True))
    for name, side in results.part("sides").items():
        if isinstance(side, dict) and side.get("state") == "failed":
            blocks.append(Words(f"The side {name} failed: {side.get('why')}", True))
    return blocks + [Words(note, True) for note in results.notes]


def target_rows(results):
    rows, metrics = [], results.part("profile").get("metrics", 1000)
    for row in results.rows:
        if isinstance(row.get("target"), dict):
            cost, part = spread(row.get("cost")), spread(row.get("part"))
            unit = (row.get("cost") or {}).get("unit", "ns")
            rows.append([id_text(row["id"], metrics), with_range(cost, unit) if cost else "",
                         against_text(row, metrics), found_text(row), wanted_text(row),
                         f"{100 * part[0]:.0f} %" if part else "", verdict_text(row)])
    return rows


def target_blocks(results):
    rows = target_rows(results)
    if not rows:
        return []
    met, missed = (sum(row[-1] == word for row in rows) for word in ("met", "MISSED"))
    said = f"{met} of {len(rows)} targets met, {missed} missed, {len(rows) - met - missed} not " \
           "measured. The bars say how much of what is allowed is used: 1 is the limit."
    return [Heading("Targets"), Words(said), *chart_choice.target_chart(results),
            Table(["operation", "cost", "against", "found", "wanted", "used", ""], rows, (1, 3, 5))]


SECTIONS = [
    ("Operations", "Whiskers span all samples of all runs; a bar ends at the median of the runs' "
     "medians. One thread, in a loop that does nothing else.", chart_choice.operation_charts),
    ("Threads", "Processor time of an operation on each of several threads at once: all on the "
     "same object, or each on its own.", chart_choice.threads_charts),
    ("Random against hot", "The same operation on one metric again and again, and on many in "
     "random order, where memory is what costs.", chart_choice.random_charts),
    ("Sizes", "What depends on how many series there are: pages, first touch, memory, start-up.",
     chart_choice.size_charts),
]


def every_benchmark(results):
    rows = []
    for name, each in sorted(results.benchmarks.items()):
        variation = each.variation
        noted = f"{each.disturbed} windows taken again" if each.disturbed else ""
        if each.overlap_least is not None and each.overlap_least < 0.95:
            noted += ("; " if noted else "") + f"together {each.overlap_least:.0%} of the time"
        rows.append([name, with_range((each.median, each.low, each.high), each.unit),
                     "" if variation is None else f"{100 * variation:.1f} %",
                     f"{len(each.medians)} × {max(len(run) for run in each.runs)}", noted])
    return [Heading("Every benchmark"),
            Words("Variation is the standard deviation of the runs' medians by their mean."),
            Table(["benchmark", "median (range)", "variation", "runs × samples", ""], rows, (1, 2))]


def side_blocks(results):
    """The sides with their versions, those that did not run and why, and missing benchmarks."""
    rows = []
    for name, side in sorted(results.part("sides").items()):
        side = side if isinstance(side, dict) else {}
        versions = ", ".join(f"{what} {which}"
                             for what, which in sorted((side.get("versions") or {}).items()))
        rows.append([name, str(side.get("state", "")), str(side.get("why") or versions)])
    blocks = [Heading("Sides"), Table(["side", "state", "versions, or why not"], rows)]
    missing = sorted(results.part("missing").items())
    if missing:
        blocks += [Heading("Not run"),
                   Table(["benchmark", "why"], [[name, str(why)] for name, why in missing])]
    checks = results.part("checks")
    if "compared" in checks:
        wrong = len(checks.get("wrong") or [])
        blocks.append(Words(f"{checks['compared']} totals were compared with what was asked, "
                            f"{wrong or 'none'} of them wrong."))
    return blocks


def twin_blocks(results):
    twin = results.part("twin")
    if not twin:
        return []
    rows = []
    for row in twin.get("rows") or []:
        cost, without = spread(row.get("cost")), spread(row.get("without"))
        apart = row.get("difference") or {}
        mean, low, high = (apart.get(key) for key in ("mean", "low", "high"))
        if not cost or not without or None in (mean, low, high):
            continue
        zero = "spans zero" if low <= 0 <= high else ""
        rows.append([str(row.get("id")), with_range(cost), with_range(without),
                     f"{number(mean)} ({number(low)} to {number(high)})", zero])
    return [Heading("Twin"), Words(f"{twin.get('claim', '')} With {twin.get('with')}, without "
                                   f"{twin.get('without')}: they differ in {twin.get('setting')}."),
            Table(["benchmark", "with", "without", "difference, 95 % interval", ""], rows,
                  (1, 2, 3))]


def comparison_blocks(comparison):
    if comparison is None:
        return []
    blocks = [Heading("Compared with earlier results"),
              Words(f"Old: {comparison.old.path.name}. Medians of runs, Mann-Whitney U test; ~ is "
                    "no difference that chance would not give in one of twenty tests.")]
    blocks += [Words(warning, True) for warning in comparison.warnings]
    blocks += [Words(said) for said in comparison.summary()]
    return blocks + [Table(compare_results.HEADERS, comparison.table(), (2, 3, 4))]


def page(results, comparison=None):
    """All blocks of the page."""
    blocks = [Heading("How fast Crest is", 1), *machine_blocks(results)]
    blocks += comparison_blocks(comparison) + target_blocks(results) + twin_blocks(results)
    for title, words, choose in SECTIONS:
        charts = choose(results)
        if charts:
            blocks += [Heading(title), Words(words), *charts]
    return blocks + every_benchmark(results) + side_blocks(results)


def drawn(blocks):
    """{name: SVG} of the charts, and a sentence when there could be none."""
    pictures = {}
    for chart in (block for block in blocks if isinstance(block, gnuplot_charts.Chart)):
        try:
            pictures[chart.name] = gnuplot_charts.draw(chart)
        except gnuplot_charts.Missing as why:
            return pictures, str(why)
    return pictures, ""


def html_table(block):
    def cells(row, tag):
        return "".join(
            f"<{tag}{' class=n' if column in block.numbers else ''}>{mark(cell)}</{tag}>"
            for column, cell in enumerate(row))

    def mark(cell):
        text = html.escape(str(cell))
        known = cell in ("met", "MISSED", "worse", "better")
        return f'<span class="{cell}">{text}</span>' if known else text
    head = f"<tr>{cells(block.headers, 'th')}</tr>" if any(block.headers) else ""
    return f"<table>{head}" + "".join(f"<tr>{cells(row, 'td')}</tr>\n" for row in block.rows) + \
        "</table>"


def as_html(blocks, pictures):
    """One file that needs no other: pictures are inside it."""
    title = html.escape(blocks[0].text)
    parts = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width">',
             f"<title>{title}</title><style>{STYLE}</style></head><body>"]
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"<h{block.level}>{html.escape(block.text)}</h{block.level}>")
        elif isinstance(block, Words):
            kind = ' class="warn"' if block.warning else ""
            parts.append(f"<p{kind}>{html.escape(block.text)}</p>")
        elif isinstance(block, Table):
            parts.append(html_table(block))
        elif block.name in pictures:
            data = base64.b64encode(pictures[block.name]).decode()
            parts.append(f'<img width="{gnuplot_charts.WIDTH}" height="{block.height}" '
                         f'alt="{html.escape(f"{block.title}. {block.words}", quote=True)}" '
                         f'src="data:image/svg+xml;base64,{data}">')
    return "\n".join([*parts, "</body></html>", ""])


def as_markdown(blocks, pictures):
    """The same with the pictures beside it, in charts/."""
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append("#" * block.level + " " + block.text)
        elif isinstance(block, Words):
            parts.append(f"**{block.text}**" if block.warning else block.text)
        elif isinstance(block, Table):
            parts.append(markdown_table(block.headers, block.rows))
        elif block.name in pictures:
            parts.append(f"![{block.title}](charts/{block.name}.svg)")
    return "\n\n".join(parts) + "\n"


def markdown_table(headers, rows):
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
    return "\n".join([line(headers), line(["---"] * len(headers)), *map(line, rows)])
