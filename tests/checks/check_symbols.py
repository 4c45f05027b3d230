#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what each shared library exports with the list that is checked in beside this file.

A name that appears was exported by accident or belongs into the list; one that disappears breaks
programs that link with it. `make symbols-update` rewrites the lists; the diff is for a reviewer.
"""

import pathlib
import sys

from checklib import BUILD, ROOT, Rules, command

LIBRARIES = ["libcrest", "libcrest-reporters"]


def list_file(library):
    return ROOT / "tests/checks" / f"{library}.symbols"


def exported(library):
    """Sorted names, or None and why."""
    path = BUILD / "lib" / f"{library}.so"
    status, output = command(["nm", "-D", "--defined-only", "-P", path])
    if status != 0:
        return None, output.strip()
    return sorted({line.split()[0].split("@")[0] for line in output.splitlines() if line}), ""


def update():
    for library in LIBRARIES:
        names, why = exported(library)
        if names is None:
            sys.exit(f"{library}: {why}")
        list_file(library).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        print(f"{list_file(library).relative_to(ROOT)}: {len(names)} symbols")


def main():
    if sys.argv[1:] == ["--update"]:
        update()
        return
    rules = Rules()
    for library in LIBRARIES:
        names, why = exported(library)
        listed = rules.rule(f"{library}.so exports what tests/checks/{library}.symbols lists")
        prefixed = rules.rule(f"{library}.so exports only names that begin with crest_, and one "
                              "that OpenTelemetry has named")
        if names is None:
            rules.broken(listed, why)
            continue
        path = list_file(library)
        wanted = path.read_text(encoding="utf-8").split() if path.exists() else []
        for name in sorted(set(names) - set(wanted)):
            rules.broken(listed, f"exported, not in the list: {name}")
        for name in sorted(set(wanted) - set(names)):
            rules.broken(listed, f"in the list, not exported: {name}")
        for name in names:
            if not name.startswith("crest_") and name != "otel_thread_ctx_v1":
                rules.broken(prefixed, name)
    rules.finish()


if __name__ == "__main__":
    main()
