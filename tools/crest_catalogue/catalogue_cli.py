# SPDX-License-Identifier: Apache-2.0
"""The command line of crest catalogue: manifests in, files out or compared.

Exit status: 0 done; 1 problems in manifests, which are printed as file:line:column: message, or,
with --check, output that is not up to date; 2 a wrong call, or a file that cannot be read or
written.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import sys
import tempfile

from .exported_names import exported_names
from .manifest_load import load

RANGE = re.compile(r"(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?")
DONE, PROBLEMS, CANNOT = 0, 1, 2


class Refused(Exception):
    """The program cannot go on; `status` is its exit status."""

    def __init__(self, message, status=CANNOT):
        super().__init__(message)
        self.status = status


def read_manifests(paths):
    """All manifests, without a problem; else ends the program."""
    for path in paths:
        if not os.path.isfile(path):
            raise Refused(f"{path}: is no file; name the manifests themselves"
                          if os.path.exists(path) else f"{path}: there is no such file")
    manifests, problems = load(paths)
    if problems:
        raise Refused("\n".join(map(str, problems)), PROBLEMS)
    return manifests


def read_old(path):
    """The text of an existing file; None if it does not exist."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: cannot be read: {error}") from error


def replace(path, text):
    """Writes a file whole or not at all; leaves it alone if it has this text already."""
    folder = os.path.dirname(path) or "."
    try:
        handle, name = tempfile.mkstemp(prefix=".crest-", dir=folder)
        try:
            with open(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            mode = os.stat(path).st_mode if os.path.exists(path) else 0o666 & ~umask()
            os.chmod(name, mode & 0o7777)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise Refused(f"{path}: cannot be written: {error.strerror}") from error


def umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def emit(args, path, text):
    """Writes the text, or with --check prints what would change."""
    if path in (None, "-"):
        sys.stdout.write(text)
        return DONE
    old = read_old(path)
    if old == text:
        return DONE
    if not args.check:
        replace(path, text)
        return DONE
    lines = difflib.unified_diff((old or "").splitlines(True), text.splitlines(True), path,
                                 f"{path} as it would be generated")
    sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in lines)
    print(f"{path}:1:1: is not up to date; run crest catalogue without --check")
    return PROBLEMS


# ---- the commands ----


def do_header(args):
    from .make_header import header
    manifest, = read_manifests([args.manifest])
    name = os.path.basename(args.output) if args.output not in (None, "-") else \
        manifest.team.replace("-", "_") + "_metrics.h"
    return emit(args, args.output, header(manifest, name))


def do_tables(args):
    from .make_tables import Misplaced, replace_tables, table
    manifests = read_manifests(args.manifests)
    if args.into is None:
        sys.stdout.write("\n".join(table(manifest) for manifest in manifests))
        return DONE
    old = read_old(args.into)
    if old is None:
        raise Refused(f"{args.into}: there is no such file")
    try:
        text = replace_tables(old, manifests, args.placed)
    except Misplaced as error:
        raise Refused(f"{args.into}:{error}", PROBLEMS) from error
    return emit(args, args.into, text)


def do_dashboard(args):
    from .make_dashboard import dashboard
    manifests = read_manifests(args.manifests)
    board = dashboard(manifests, args.title, args.uid, args.native)
    text = json.dumps(board, indent=2, ensure_ascii=False)
    return emit(args, args.output, text + "\n")


def prometheus_range(text):
    """A range as PromQL writes it, longest unit first; a wrong one would be in every rule."""
    if not text or not RANGE.fullmatch(text) or not re.search("[1-9]", text):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a range of Prometheus, such as "
                                         "90s, 5m or 1h30m")
    return text


def do_rules(args):
    from .make_rules import Classic, rules
    manifests = read_manifests(args.manifests)
    try:
        return emit(args, args.output, rules(manifests, args.window, args.native))
    except Classic as asked:
        raise Refused(str(asked), PROBLEMS) from asked


def described(metric):
    """A metric for programs: its manifest's fields and its exported names."""
    return {
        "name": metric.name, "team": metric.manifest.team, "instrument": metric.instrument,
        "unit": metric.unit, "status": metric.status, "recorded_by": metric.recorded_by,
        "labels": [{"key": label.key, "values": list(label.values), "bound": label.bound}
                   for label in metric.labels],
        "meaning": metric.meaning, "variable": metric.variable,
        "manifest": metric.manifest.path, "line": metric.position.line,
        "exported": [{"name": name.name, "type": name.type, "window_s": name.window_s,
                      "labels": list(name.part.label_keys)} for name in exported_names(metric)],
    }


def do_list(args):
    metrics = [metric for manifest in read_manifests(args.manifests)
               for metric in manifest.metrics]
    if args.json:
        print(json.dumps([described(metric) for metric in metrics], indent=2, ensure_ascii=False))
        return DONE
    rows = [(metric.name, metric.instrument, "" if metric.unit == "none" else metric.unit,
             ",".join(label.key for label in metric.labels), metric.status,
             exported_names(metric)[0].name) for metric in metrics]
    widths = [max([len(row[i]) for row in rows] + [0]) for i in range(5)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[5]]))
    return DONE


def parser():
    top = argparse.ArgumentParser(
        prog="crest catalogue", description="Generates from manifests of metrics.",
        epilog="Exit status: 0 done; 1 problems in manifests, or output not up to date; 2 a wrong "
               "call or a file that cannot be read or written.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, run, about, many=True):
        sub = commands.add_parser(name, help=about, description=about)
        if many:
            sub.add_argument("manifests", nargs="+", metavar="FILE", help="a manifest")
        else:
            sub.add_argument("manifest", metavar="FILE", help="a manifest")
        sub.set_defaults(run=run, check=False)
        return sub

    def written(sub):
        sub.add_argument("-o", "--output", metavar="OUT", help="instead of standard output")
        sub.add_argument("--check", action="store_true",
                         help="write nothing; print a diff and exit with 1 if OUT would change")

    written(command("header", do_header, "C declarations of one team's metrics", many=False))
    tables = command("tables", do_tables, "tables of the metrics, in Markdown")
    tables.add_argument("--into", metavar="PAGE", help="replace what stands in PAGE between "
                        "<!-- catalogue:TEAM:begin --> and <!-- catalogue:TEAM:end -->")
    tables.add_argument("--placed", action="store_true",
                        help="leave out teams that PAGE has no place for")
    tables.add_argument("--check", action="store_true",
                        help="write nothing; print a diff and exit with 1 if PAGE would change")
    board = command("dashboard", do_dashboard, "a Grafana dashboard, a panel for each metric")
    board.add_argument("--title", default="Metrics", help="of the dashboard (Metrics)")
    native = {"action": "store_true", "help": "for a Prometheus that takes native histograms "
              "(scrape_native_histograms: true)"}
    board.add_argument("--native", **native)
    board.add_argument("--uid", help="of the dashboard; made from the title if it is left out")
    written(board)
    rules = command("rules", do_rules, "recording and alerting rules for Prometheus")
    rules.add_argument("--native", **native)
    rules.add_argument("--window", default="5m", metavar="RANGE", type=prometheus_range,
                       help="over which rates are taken (5m)")
    written(rules)
    command("list", do_list, "the metrics, one a line").add_argument(
        "--json", action="store_true", help="for programs, with every exported name")
    return top


def main(arguments):
    args = parser().parse_args(arguments)
    try:
        return args.run(args)
    except Refused as refused:
        print(refused, file=sys.stderr)  # standard output may be the file that is made
        return refused.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CANNOT
