# SPDX-License-Identifier: Apache-2.0
"""Names as the library sees them: their grammar, near duplicates, and the nearest of a wrong one.

The grammar and the comparison are those of src/names/names.c and src/names/lookalike_names.c;
tests/tools/test_lint_names.py compares the verdicts. The catalogue has the exported names.

    name_fault("comm..ping")                  "it has two separators in a row, at byte 6"
    split_key("comm.BlockSeen") == split_key("comm.block-seen")
"""

import difflib
import re

from crest_catalogue.exported_names import RESERVED_NAMES
from crest_catalogue.manifest_model import LABEL_KEY_BYTES_MAX, NAME_BYTES_MAX

RESERVED_LABELS = frozenset(["le", "quantile", "outcome", "job", "instance"])

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
LABEL_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SEPARATORS = re.compile(r"[._-]+")


def exported_base(name):
    return name.replace(".", "_").replace("-", "_")


def name_fault(name):
    """Why the library would refuse a name, or None."""
    if not name:
        return "it is empty"
    if not re.match("[A-Za-z]", name):
        return f"it begins with {name[0]!r}, not with a letter"
    for at, c in enumerate(name):
        if not re.match("[A-Za-z0-9_.-]", c):
            return f"it has {c!r} at byte {at + 1}; only letters, digits, _, . and - are valid"
    if len(name) > NAME_BYTES_MAX:
        return f"it is longer than {NAME_BYTES_MAX} bytes, prefix included"
    twice = re.search("[.-][.-]", name)
    if twice:
        return f"it has two separators in a row, at byte {twice.start() + 1}"
    if name[-1] in ".-":
        return "it ends with a separator"
    if exported_base(name) in RESERVED_NAMES:
        return f"{exported_base(name)} is exported by Prometheus, the Pushgateway or Crest itself"
    return None


def label_key_fault(key):
    """Why the library would refuse a label key, or None."""
    if not LABEL_KEY.fullmatch(key):
        return "a label key is a letter, then letters, digits and _"
    if len(key) > LABEL_KEY_BYTES_MAX:
        return f"a label key has at most {LABEL_KEY_BYTES_MAX} bytes"
    if key in RESERVED_LABELS:
        return "exporters use that key themselves"
    return None


def split_key(name):
    """Equal for names that differ only in case or separators; one between two digits counts."""
    def join(match):
        before, after = name[match.start() - 1:match.start()], name[match.end():match.end() + 1]
        return "." if is_digit(before) and is_digit(after) else ""
    return SEPARATORS.sub(join, name).translate(LOWER)


# Not str.lower: the library knows only ASCII.
LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def is_digit(c):
    return c != "" and c in "0123456789"


def words_of(name):
    """The words of a name, in lower case, with camel case split."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return [word for word in SEPARATORS.split(apart.lower()) if word]


def nearest(name, known):
    """The known name that a wrong name most likely means, or None."""
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return found[0] if found else None


def suggestion(name, known):
    """The end of a message: the nearest name."""
    near = nearest(name, known)
    return f"; the nearest declared name is '{near}'" if near else ""
