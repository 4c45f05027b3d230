# SPDX-License-Identifier: Apache-2.0
"""The command line of crest lint; docs/man/crest-lint.1 is its manual.

    sys.exit(main(sys.argv[1:]))

It parses, calls and prints; the checks are in lint_manifest.py, lint_source.py, lint_live.py and
lint_events.py.
"""

import argparse
import os
import sys

from crest_lint.lint_findings import EXIT_CLEAN, EXIT_UNUSABLE, FORMATS, Report
from crest_lint.lint_manifest import check_manifests, load_quietly
from crest_lint.lint_rules import table_text

USAGE = """
  crest lint manifest FILE...
  crest lint source --manifest FILE... [--exclude GLOB]... PATH...
  crest lint live --manifest FILE... URL|FILE|- [SECOND]
  crest lint events [--with FILE]... [--exclude GLOB]... PATH...
  crest lint --rules"""


class Parser(argparse.ArgumentParser):
    """Wrong usage exits with 2, as unreadable input does."""

    def error(self, message):
        if "required" in message:
            message += " (a list of files takes what follows it: write -- between)"
        self.print_usage(sys.stderr)
        print(f"crest lint: {message}; see crest lint --help", file=sys.stderr)
        sys.exit(EXIT_UNUSABLE)


def add_common(parser, manifests):
    if manifests:
        parser.add_argument("--manifest", "-m", nargs="+", action="extend", required=True,
                            metavar="FILE", help="the declared metrics; several files, or folders "
                            "whose *.metrics.yaml are meant")
    parser.add_argument("--format", choices=FORMATS, default="text",
                        help="lines for people (default), JSON, or annotations for GitHub")
    parser.add_argument("--quiet", "-q", action="store_true", help="leave notes out")


def make_parser():
    parser = Parser(prog="crest lint", usage=USAGE, description="Checks manifests of metrics, the "
                    "sources that record them, a live page, and events.")
    parser.add_argument("--rules", action="store_true", help="list the rules and end")
    commands = parser.add_subparsers(dest="command", metavar="manifest|source|live|events",
                                     prog="crest lint")

    manifest = commands.add_parser("manifest", help="the naming rules, over manifests")
    manifest.add_argument("files", nargs="+", metavar="FILE")
    manifest.add_argument("--with", dest="others", nargs="+", action="extend", default=[],
                          metavar="FILE", help="manifests to compare with and not to check")
    manifest.add_argument("--fix", action="store_true",
                          help="write the declared spelling where another one is meant")
    add_common(manifest, False)

    source = commands.add_parser("source", help="sources against manifests")
    source.add_argument("paths", nargs="+", metavar="PATH", help="files or folders")
    source.add_argument("--exclude", action="append", default=[], metavar="GLOB",
                        help="leave out paths or names that match")
    source.add_argument("--with", dest="others", nargs="+", action="extend", default=[],
                        metavar="FILE", help="manifests of names that are recorded elsewhere too")
    source.add_argument("--partial", action="store_true",
                        help="the paths are not all of the code: unused names are no finding")
    source.add_argument("--own-prefixes", action="store_true",
                        help="names outside the prefixes of the manifests are others' business")
    source.add_argument("--fix", action="store_true",
                        help="write the declared spelling into sources")
    add_common(source, True)

    live = commands.add_parser("live", help="a live page, or a dump of one, against manifests")
    live.add_argument("page", metavar="URL|FILE|-")
    live.add_argument("second", nargs="?", metavar="SECOND", help="the same page, later")
    live.add_argument("--watch", metavar="TIME", help="read the page again after this time: 30s")
    live.add_argument("--group", default="", metavar="KEY=VALUE,...",
                      help="only series with these labels, which are not the metrics' own")
    live.add_argument("--ignore-labels", default="", metavar="KEY,...",
                      help="labels that every series may have beside its own")
    live.add_argument("--stale", default="5m", metavar="TIME",
                      help="how old the last push may be (5m)")
    live.add_argument("--timeout", default="10s", metavar="TIME", help="of the request (10s)")
    live.add_argument("--partial", action="store_true",
                      help="the page has only some of the metrics: missing ones are no finding")
    add_common(live, True)

    events = commands.add_parser("events", help="events that sources declare, and their rules")
    events.add_argument("paths", nargs="+", metavar="PATH", help="files or folders")
    events.add_argument("--with", dest="others", action="append", default=[], metavar="FILE",
                        help="a file of rules, as events.rules-file has it")
    events.add_argument("--exclude", action="append", default=[], metavar="GLOB",
                        help="leave out paths or names that match")
    add_common(events, False)
    return parser


def pages_first(arguments):
    """`live -m src URL` as `live URL -m src`: the list of manifests would swallow the page. An
    argument that is no folder and no .yaml is no manifest, except the first, which is no page."""
    if arguments[:1] != ["live"] or "--" in arguments or not arguments[1:2] or \
            not arguments[1].startswith("-") or arguments[1] == "-":
        return arguments
    pages, others, at = [], [], None
    for argument in arguments[1:]:
        if argument.startswith("-") and argument != "-":
            at = -1 if argument in ("-m", "--manifest") else None
        elif at is not None:
            at += 1
            if at and not os.path.isdir(argument) and not argument.endswith((".yaml", ".yml")):
                pages.append(argument)
                continue
        others.append(argument)
    return ["live", *pages, *others]


def manifest_paths(paths, report):
    """Files as they are; of folders, every *.metrics.yaml below."""
    found = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
            continue
        below = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path)
                       for name in names if name.endswith(".metrics.yaml"))
        if not below:
            report.cannot_use(f"{path}: there is no *.metrics.yaml in it or below")
        found += below
    return list(dict.fromkeys(found))


def run_manifest(options, report):
    from crest_lint.lint_fix import fix_manifests
    paths = manifest_paths(options.files, report)
    # manifests to compare with come first, so that a clash is reported for the checked ones
    every = manifest_paths(options.others, report) + paths
    if options.fix:
        fix_manifests(paths, every, report)
    check_manifests(list(dict.fromkeys(every)), report, set(paths))


def run_source(options, report):
    from crest_lint.lint_fix import fix_sources
    from crest_lint.lint_source import check_sources
    own = manifest_paths(options.manifest, report)
    manifests = load_quietly(list(dict.fromkeys(own + manifest_paths(options.others, report))),
                             report)
    asked = [] if options.partial else [manifest for manifest in manifests if manifest.path in own]

    def check(into):
        return check_sources(manifests, options.paths, into, options.exclude, asked,
                             options.own_prefixes)
    if options.fix:
        before = Report()
        fix_sources(check(before).fixes, report)
    check(report)


def run_live(options, report):
    from crest_lint.lint_live import check_live
    check_live(load_quietly(manifest_paths(options.manifest, report), report), options, report)


def run_events(options, report):
    from crest_lint.lint_events import check_events
    check_events(options.paths, report, options.exclude, options.others)


RUN = {"manifest": run_manifest, "source": run_source, "live": run_live, "events": run_events}


def main(arguments):
    # File names and texts may be anything; printing them must not fail.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    parser = make_parser()
    options = parser.parse_args(pages_first(arguments))
    if options.rules:
        sys.stdout.write(table_text())
        return EXIT_CLEAN
    if not options.command:
        parser.error("expected one of manifest, source, live, events")
    report = Report()
    report.notes_shown = not options.quiet
    try:
        RUN[options.command](options, report)
        report.write(sys.stdout, options.format)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return EXIT_UNUSABLE
    for message in report.unusable:
        print(f"crest lint: {message}", file=sys.stderr)
    return report.status()
