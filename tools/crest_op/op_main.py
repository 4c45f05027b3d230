# SPDX-License-Identifier: Apache-2.0
"""The command line of crest op; docs/man/crest-op.1 is its manual.

    sys.exit(main(sys.argv[1:]))
"""

import argparse
import datetime
import json
import sys

from crest_op.op_spans import read
from crest_op.op_tree import by_operation, chosen, clean, duration, show, trees

LISTED_MAX = 20
EXIT_FOUND, EXIT_NOT_FOUND, EXIT_UNUSABLE = 0, 1, 2


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        print(f"crest op: {message}; see crest op --help", file=sys.stderr)
        sys.exit(EXIT_UNUSABLE)


def parse(arguments):
    parser = Parser(prog="crest op", description="Shows one operation, a block for one, as a tree "
                    "of its spans, with durations and attributes; from any number of nodes.")
    parser.add_argument("id", metavar="ID", help="the operation as the node names it (a number, "
                        "7:8, a text, 0x and a hash or its first digits, 4 at least), or a trace "
                        "id; - lists the operations that there are, slowest first")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="http://127.0.0.1:PORT of a "
                        "node's scrape port, a file of spans-json= (- is standard input), or a "
                        "state file, its folder or a process's number: what was under way there")
    parser.add_argument("--all", action="store_true", help="all children, not the first 50 of each")
    parser.add_argument("--json", action="store_true", help="the spans as lines of JSON")
    return parser.parse_args(arguments)


def extent(spans):
    return min(span.start_ns for span in spans), max(span.end_ns for span in spans)


def moment(ns):
    try:
        at = datetime.datetime.fromtimestamp(ns // 10 ** 9, datetime.timezone.utc)
    except (OverflowError, OSError, ValueError):
        return f"{ns} ns since 1970"
    return f"{at:%Y-%m-%d %H:%M:%S}.{ns % 10 ** 9 // 10 ** 6:03} UTC"


def counted(number, word):
    return f"{number} {word}{'' if number == 1 else 's'}"


def told(name, spans):
    """What stands above a tree."""
    begin, end = extent(spans)
    traces = sorted({span.trace for span in spans if span.trace})
    nodes = {span.node for span in spans if span.node}
    words = [f"{clean(name)}: {duration(end - begin)} since {moment(begin)}",
             counted(sum(not span.open for span in spans), "span"),
             counted(max(1, len(nodes)), "node")]
    opened = sum(span.open for span in spans)
    if opened:
        words.append(f"{opened} still open when last seen")
    yield ", ".join(words)
    yield from (f"trace {clean(trace)}" for trace in traces)


def lists(spans):
    groups = [(extent(group), name, group) for name, group in by_operation(spans).items()]
    groups.sort(key=lambda entry: entry[0][0] - entry[0][1])
    for (begin, end), name, group in groups[:LISTED_MAX]:
        wrong = sum(span.outcome not in ("ok", "") for span in group)
        opened = sum(span.open for span in group)
        print(f"{duration(end - begin):>9}  {clean(name)}  {counted(len(group) - opened, 'span')}"
              + (f", {wrong} not ok" if wrong else "") + (f", {opened} open" if opened else ""))
    if len(groups) > LISTED_MAX:
        print(f"… {len(groups) - LISTED_MAX} more")


def as_json(spans):
    for span in spans:
        print(json.dumps({"traceId": span.trace, "spanId": span.id, "parentSpanId": span.parent,
                          "name": span.name, "operation": span.operation, "node": span.node,
                          "startTimeUnixNano": span.start_ns, "endTimeUnixNano": span.end_ns,
                          "outcome": span.outcome, "open": span.open,
                          "attributes": span.attributes}))


def missing(wanted, spans):
    some = [clean(name) for name in list(by_operation(spans))[:3]]
    print(f"crest op: there is no span of {clean(wanted)} among {counted(len(spans), 'span')}"
          + (f", of {', '.join(some)} for example" if some else ": is spans= set, and was the "
             "operation kept, as slow, failed or sampled?"), file=sys.stderr)
    return EXIT_NOT_FOUND


def run(options):
    spans, problems = read(options.sources)
    for problem in problems:
        print(f"crest op: {clean(problem, 500)}", file=sys.stderr)
    if problems and not spans:
        return EXIT_UNUSABLE
    if options.id == "-":
        lists(spans)
        return EXIT_FOUND if spans else missing("any operation", spans)
    found = chosen(spans, options.id)
    if not found:
        return missing(options.id, spans)
    if options.json:
        as_json(found)
        return EXIT_FOUND
    for index, (name, group) in enumerate(by_operation(found).items()):
        if index:
            print()
        print("\n".join(told(name, group)))
        print("\n".join(show(trees(group), *extent(group), options.all)))
    return EXIT_FOUND


def main(arguments):
    # bars and names beyond what the terminal's locale has become question marks
    sys.stdout.reconfigure(errors="replace")
    try:
        status = run(parse(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # as less does, when it has seen enough
        sys.stderr.close()
        return EXIT_FOUND
