# SPDX-License-Identifier: Apache-2.0
"""What the tests of crest lint share: running it, and writing what it shall look at.

    place_files(place, {"src/a.c": TEXT, "m.yaml": manifest("- {name: a.b, ...}")})
    lint(place, "source", "-m", "m.yaml", "--", "src")      the findings, as tuples
"""

import json

import toolslib
from crest_lint import lint_main

LINT = [toolslib.TOOLS / "crest", "lint"]
HEAD = "manifest: 1\nteam: comm\nprefixes: [{prefixes}]\nmetrics:\n"


def manifest(*metrics, prefixes="comm", more=""):
    """The text of a manifest; each metric is what comes after its name, or a whole mapping."""
    lines = [f"  - {{{metric}}}" if "name:" in metric else f"  - {{name: {metric}}}"
             for metric in metrics]
    return HEAD.format(prefixes=prefixes) + "\n".join(lines) + "\n" + more


def place_files(place, files):
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def run_lint(place, *arguments, status=None, text=None):
    """(exit status, stdout, stderr); a trace is a failure, whatever the status."""
    ended, *texts = toolslib.forked(lint_main.main, list(map(str, arguments)), place, text or b"")
    out, err = (text.decode("utf-8", "replace") for text in texts)
    if "Traceback" in out + err:
        raise toolslib.Failure(f"crest lint {arguments} broke:\n{out}{err}")
    if status is not None and ended != status:
        raise toolslib.Failure(f"crest lint {arguments} ended with {ended}, wanted "
                               f"{status}:\n{out}{err}")
    return ended, out, err


def lint(place, *arguments, status=None, text=None):
    """The findings, each as (rule, path, line, column, message)."""
    command, *rest = arguments
    _, out, err = run_lint(place, command, "--format", "json", *rest, status=status, text=text)
    try:
        found = json.loads(out)["findings"]
    except ValueError:
        raise toolslib.Failure(f"crest lint {arguments} printed no JSON:\n{out}{err}") from None
    return [(finding["rule"], finding["path"], finding["line"], finding["column"],
             finding["message"]) for finding in found]


def rules(findings):
    return sorted({finding[0] for finding in findings})
