# SPDX-License-Identifier: Apache-2.0
"""`--fix`: replaces a wrong spelling by the declared one, where only one can be meant.

    fix_sources(check.fixes, report)

It rewrites only a string literal that is the whole name, or its end behind a source. A name that
is built from several texts, or by a macro, is left to people. A file is written to a temporary
beside it and renamed, with its mode; report.fixed lists the changes. A second run changes nothing.
"""

import os
import stat
import tempfile

from crest_catalogue import load
from crest_lint.lint_names import split_key
from crest_lint.lint_scan import reason_of


def fix_sources(fixes, report):
    """Each fix is (file, literal, the name as it is, the name as declared)."""
    by_file = {}
    for file, literal, name, declared in fixes:
        new = new_literal(literal, name, declared)
        if new is None:
            continue
        changes = by_file.setdefault(file, {})
        # A literal that two sources precede, with different fixes, is ambiguous.
        if changes.setdefault(literal.body_start, (literal, name, new)) != (literal, name, new):
            changes[literal.body_start] = None
    for file, changes in by_file.items():
        wanted = [change for _, change in sorted(changes.items()) if change is not None]
        if wanted:
            apply_to_source(file, wanted, report)


def new_literal(literal, name, declared):
    """The literal's new text, or None if the fix is not in this literal alone."""
    value = literal.value
    if value != literal.body or not name.endswith(value):
        return None
    lead = name[:len(name) - len(value)]
    if not declared.startswith(lead) or split_key(declared[len(lead):]) != split_key(value):
        return None
    return declared[len(lead):]


def apply_to_source(file, changes, report):
    text, kept, parts = file.text, 0, []
    for literal, _, new in changes:
        parts += [text[kept:literal.body_start], new]
        kept = literal.body_end
    new_text = "".join(parts) + text[kept:]
    if write_over(file.path, new_text.encode("utf-8", "surrogateescape"), report):
        for literal, _, new in changes:
            report.fixed.append(f"{file.place(literal.start)}: '{literal.value}' -> '{new}'")


def write_over(path, data, report):
    """Replaces a file, with its mode, whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            report.cannot_use(f"{path}: not fixed, it is no regular file")
            return False
        if not os.access(path, os.W_OK):
            report.cannot_use(f"{path}: not fixed, it is not writable")
            return False
        handle, beside = tempfile.mkstemp(prefix=".crest-lint-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(beside, stat.S_IMODE(status.st_mode))
            os.replace(beside, path)
        except OSError:
            os.unlink(beside)
            raise
        return True
    except OSError as error:
        report.cannot_use(f"{path}: not fixed: {reason_of(error)}")
        return False


def fix_manifests(paths, every, report):
    """Corrects names in replaced-by, in the manifests of `paths`."""
    manifests, _ = load(every)
    names = {metric.name for manifest in manifests for metric in manifest.metrics}
    spelled = {}
    for name in names:
        spelled.setdefault(split_key(name), []).append(name)
    for manifest in manifests:
        if manifest.path not in paths:
            continue
        wrong = {}
        for metric in manifest.metrics:
            for name in metric.replaced_by:
                known = spelled.get(split_key(name), [])
                if name not in names and len(known) == 1:
                    wrong.setdefault(metric.at("replaced-by").line, []).append((name, known[0]))
        if wrong:
            apply_to_manifest(manifest.path, wrong, report)


def apply_to_manifest(path, wrong, report):
    """Only on the line of replaced-by's value, and only if the name occurs once in it."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().split("\n")
    changed = []
    for number, pairs in wrong.items():
        for name, declared in pairs:
            if lines[number - 1].count(name) == 1:
                lines[number - 1] = lines[number - 1].replace(name, declared)
                changed.append(f"{path}:{number}: '{name}' -> '{declared}'")
    if changed and write_over(path, "\n".join(lines).encode(), report):
        report.fixed += changed
