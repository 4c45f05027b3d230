# SPDX-License-Identifier: Apache-2.0
"""The results file, as bench/README.md describes it, written so that diffs are readable."""

import errno
import json
import os

FORMAT = 1
BY_LINE = {"benchmarks", "rows", "missing", "inputs"}  # an entry of these is a line


class Unreadable(Exception):
    """An invalid results file; the text says why."""


def dumped(value, separators=None):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)


def text_of(results, separators=None):
    """A key a line; of what is large, an entry a line, with json's `separators`."""
    lines = []
    for key, value in results.items():
        if key in BY_LINE and isinstance(value, dict) and value:
            entries = [f"  {dumped(name)}: {dumped(entry, separators)}"
                       for name, entry in value.items()]
            text = "{\n" + ",\n".join(entries) + "\n }"
        elif key in BY_LINE and isinstance(value, list) and value:
            text = "[\n" + ",\n".join(f"  {dumped(entry, separators)}" for entry in value) + "\n ]"
        else:
            text = dumped(value)
        lines.append(f" {dumped(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_whole(path, text):
    """All of it or nothing: what was there before stays until the new one is complete, also when
    the disk is full, or another run writes the same file."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


def read_results(path):
    """A results file of this format; Unreadable otherwise."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        where_from = "; `make bench` writes one" if error.errno == errno.ENOENT else ""
        raise Unreadable(f"{path} cannot be read: {error.strerror}{where_from}") from error
    except ValueError as error:
        raise Unreadable(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict) or "benchmarks" not in found:
        raise Unreadable(f"{path} is no results file of `make bench`: it has no benchmarks")
    if found.get("format") != FORMAT:
        raise Unreadable(f"{path} has the format {found.get('format')!r}; this program reads "
                         f"{FORMAT}")
    return found
