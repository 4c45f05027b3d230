#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fault table is whole: each function that the libraries import has a row that makes it fail,
or a line that says why it cannot; and each public call that locks, allocates or blocks is made by
a scenario while they fail.

Rows are those of tests/faults/fault_*.c, lines those of tests/faults/never_fails.txt, calls those
of docs/safety.md, and scenarios tests/faults/test_faults_*.c.
"""

import re

from check_safety import rows
from checklib import BUILD, ROOT, Rules, command, read

FOLDER = "tests/faults"
NEVER = f"{FOLDER}/never_fails.txt"
LIBRARIES = ("libcrest", "libcrest-reporters")
ROW = re.compile(r"^(?:ROW|ROW_MAKES|FAULT_DECLARE)\([^,]*,\s*(\w+),", re.M)
# What newer C libraries and _FORTIFY_SOURCE call a function.
RENAMED = re.compile(r"__isoc\d+_\w+$|__\w+_chk$")
FORTIFIED = {"asprintf", "__asprintf_chk"}  # the one or the other, as the build has it
COSTS = ("locks", "allocates", "blocks", "starts")
# Macros of a scenario that stand for one call a kind.
PASTED = re.compile(r"crest_##type##(\w+)")
KINDS = ("counter", "gauge", "histogram", "timer", "range_sampler", "stages")
# No call of a program's own: parts of inline functions, or constructors at load; or a call that is
# its whole contract to wait. Each with what tries it instead.
APART = {
    "crest_loop_watch": "loop", "crest_loop_unwatch": "loop",
    "crest_counter_add_slow": "record", "crest_counter_full_slow": "record",
    "crest_gauge_set_slow": "get", "crest_gauge_add_slow": "record",
    "crest_histogram_record_slow": "record", "crest_timer_record_slow": "record",
    "crest_range_sampler_add_slow": "record", "crest_range_sampler_set_slow": "record",
    "crest_mutex_lock_slow": "mutex", "crest_counter_site_add": "by-name",
    "crest_counter_site_slow": "by-name", "crest_mutex_cond_wait": "mutex",
    "crest_timer_end_by_name_in": "by-name", "crest_log_to": "start",
    "crest_testing_reporter_fail": "attach", "crest_testing_reporter_count": "attach",
    "crest_testing_reporter_stops": "attach", "crest_testing_reporter_get": "attach",
    "crest_testing_reporter_wait": "attach", "crest_windows_configure": "start",
}


def imports():
    """What both libraries import, less each other's."""
    names = set()
    for library in LIBRARIES:
        status, output = command(["nm", "-D", "--undefined-only", BUILD / f"lib/{library}.so"])
        if status != 0:
            return None, output
        names |= {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}
    return {name for name in names if not name.startswith("crest_")}, ""


def plain(name):
    """The function that a name of a newer C library's, or of _FORTIFY_SOURCE's, stands for."""
    return re.sub(r"^__(isoc\d+_)?(\w+?)(_chk)?$", r"\2", name) if RENAMED.match(name) else name


def main():
    rules = Rules()
    whole = rules.rule("each imported function has a row, or a reason why it cannot fail")
    gone = rules.rule("each row and each reason is of a function that is imported")
    tried = rules.rule("each public call that locks, allocates or blocks is in a scenario")
    failing = {}
    for source in sorted((ROOT / FOLDER).glob("fault_*.c")):
        for name in ROW.findall(source.read_text(encoding="utf-8")):
            if name in failing:
                rules.broken(gone, f"{name} has two rows")
            failing[name] = source.name
    never = {word for line in read(NEVER).splitlines() if line.startswith(" ")
             for word in line.split()}
    names, why = imports()
    if names is None:
        rules.broken(whole, why)
        names = set()
    # one that can fail needs a row under each of its names
    named = names | {plain(name) for name in names if plain(name) not in failing}
    never |= {name for name in names if plain(name) in never}
    for name in sorted(names - set(failing) - never):
        rules.broken(whole, f"{name}: give it a row in {FOLDER}/fault_wrappers.c that says how it "
                            f"fails, or put it into {NEVER}, below a reason")
    for name in sorted((set(failing) | never) - named - FORTIFIED):
        rules.broken(gone, f"{name} is imported no more")
    for name in sorted(set(failing) & never):
        rules.broken(gone, f"{name} is in {NEVER} and has a row in {failing[name]}")
    text = "\n".join(path.read_text(encoding="utf-8")
                     for path in sorted((ROOT / FOLDER).glob("test_faults_*.c")))
    called = set(re.findall(r"\bcrest_\w+", text))
    called |= {f"crest_{kind}{end}" for end in PASTED.findall(text) for kind in KINDS}
    for functions, _, _, cost in rows():
        if not any(word in cost for word in COSTS):
            continue
        for name in functions:
            if name.startswith("crest_") and name not in called and name not in APART:
                rules.broken(tried, f"{name} ({cost}): call it in a scenario of {FOLDER}")
    rules.finish()


if __name__ == "__main__":
    main()
