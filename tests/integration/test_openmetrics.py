#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""Pages of random snapshots, read by those who know the formats best: text 0.0.4 by promtool, and
OpenMetrics by the strict parser of Prometheus' Python client. What the parser lets pass, duplicate
series and families, is looked for here; and the two formats have to say the same.

What is recorded is in page_program.c: every instrument, every unit, and texts that would break a
page if they could.
"""

import collections
import os
import re
import subprocess
import sys

import harness
from harness import Failure, equal

PACKAGES = harness.SERVERS.parent / "lib/python3/dist-packages"
sys.path.insert(0, str(PACKAGES))
sys.dont_write_bytecode = True

SNAPSHOTS = 4
SNAPSHOTS_IN_LOCALE = 2
# promtool does not like these names; a page may still have them.
LINT = 3
# What page_program's wall clock begins at.
MADE_S = 1700000000


def pages_of(place, number, **environment):
    """The pages that page_program writes for this number, by their names."""
    folder = place.folder / f"pages-{number}"
    folder.mkdir()
    subprocess.run([harness.BUILD / "tests/programs/page_program", folder, str(number)],
                   check=True, timeout=300, env={**os.environ, **environment})
    return {path.name: path.read_bytes().decode("utf-8") for path in folder.iterdir()}


def check_text(page):
    """promtool finds nothing that is wrong, whatever it thinks of the names."""
    done = subprocess.run([harness.SERVERS / "promtool", "check", "metrics"], input=page.encode(),
                          capture_output=True, timeout=300)
    if done.returncode not in (0, LINT):
        raise Failure(f"promtool says {done.returncode}: {done.stderr.decode()[:1000]}")


def families_of(page):
    """The families of an OpenMetrics page; fails where the strict parser does."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    try:
        return list(text_string_to_metric_families(page))
    except ValueError as error:
        raise Failure(f"not OpenMetrics: {error}") from None


def samples_of(page):
    """Every sample line without an exemplar, in order."""
    lines = [line for line in page.split("\n")[:-1] if not line.startswith("#")]
    return [re.sub(r' # \{operation="(\\.|[^"\\])*"\} \S+$', "", line) for line in lines]


def check_unique(page):
    """No series and no family twice, and families in one piece."""
    series = collections.Counter(line.rpartition(" ")[0] for line in samples_of(page))
    equal([name for name, times in series.items() if times > 1], [], "series that are there twice")
    names = re.findall(r"^# TYPE (\S+)", page, re.MULTILINE)
    equal(len(names), len(set(names)), "names of families")


def check_metadata(page):
    """TYPE, UNIT and HELP in this order, and a unit wherever the name ends in one."""
    blocks = re.findall(r"(?:^# .*\n)+", page, re.MULTILINE)
    for block in blocks[:-1]:
        words = re.findall(r"^# (\w+) (\S+)", block, re.MULTILINE)
        while words:
            kinds = [words.pop(0)]
            while words and words[0][1] == kinds[0][1]:
                kinds.append(words.pop(0))
            if [kind for kind, _ in kinds] not in (["TYPE", "HELP"], ["TYPE", "UNIT", "HELP"]):
                raise Failure(f"metadata in a wrong order: {block}")


def check_exemplars(families):
    """Only of timers, within their bucket, short enough; returns how many there are."""
    found = 0
    for family in families:
        below = {}
        for sample in family.samples:
            labels = {key: value for key, value in sample.labels.items() if key != "le"}
            series = tuple(sorted(labels.items()))
            lower = below.get(series, -1)
            if "le" in sample.labels:
                below[series] = float(sample.labels["le"])
            if sample.exemplar is None:
                continue
            found += 1
            equal(list(sample.exemplar.labels), ["operation"])
            equal(family.type, "histogram")
            if not lower < sample.exemplar.value <= float(sample.labels["le"]):
                raise Failure(f"{sample}: outside its bucket, which begins at {lower}")
            if sum(map(len, ("operation", sample.exemplar.labels["operation"]))) > 128:
                raise Failure(f"{sample}: too long")
    return found


def check_created(families):
    """Of each point of a counter or histogram, and nothing else."""
    for family in families:
        created = [sample for sample in family.samples if sample.name.endswith("_created")]
        points = {"counter": "_total", "histogram": "_count"}.get(family.type)
        wanted = [sample.labels for sample in family.samples
                  if points and sample.name == family.name + points]
        equal([sample.labels for sample in created], wanted, f"{family.name}_created")
        for sample in created:
            if not MADE_S <= sample.value < MADE_S + 86400:
                raise Failure(f"{sample}: not when it was made")


def check_all(pages):
    """One snapshot's pages; returns the number of exemplars."""
    for name, page in pages.items():
        check_unique(page)
        if name.endswith(".txt"):
            check_text(page)
        else:
            check_metadata(page)
    families = {name: families_of(page) for name, page in pages.items() if name.endswith(".om")}
    for name in ("all", "scrape", "narrow"):
        equal(samples_of(pages[f"{name}.om"]), samples_of(pages[f"{name}.txt"]), name)
    check_created(families["created.om"])
    plain = [line for line in pages["created.om"].split("\n") if "_created" not in line]
    equal("\n".join(plain), pages["all.om"], "a page without times of creation")
    equal([family.name for family in families["narrow.om"]],
          [name for name in (re.sub("_total$", "", line) for line in
           re.findall(r"^# TYPE (\S+)", pages["narrow.txt"], re.MULTILINE))], "narrowed")
    equal(len(families["narrow.om"]) <= 3, True, "no more than were asked for")
    equal({family.name: family.type for family in families["all.om"]}["crest_target"], "info")
    return check_exemplars(families["all.om"])


def any_snapshot_is_valid(place):
    found = sum(check_all(pages_of(place, number)) for number in range(1, SNAPSHOTS + 1))
    if found < SNAPSHOTS:
        raise Failure(f"only {found} exemplars")


def a_decimal_comma_changes_nothing(place):
    done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", place.folder / "de_DE.UTF-8"],
                          capture_output=True)
    if done.returncode != 0:
        raise harness.Skip("localedef makes no de_DE here")
    # The C library keeps what it made of LOCPATH, which is not ours to free.
    leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    for number in range(SNAPSHOTS_IN_LOCALE):
        plain = pages_of(place, number)
        german = pages_of(place, f"0{number}", LOCPATH=str(place.folder), LC_ALL="de_DE.UTF-8",
                         **leaks)
        equal(german == plain, True, "the pages are the same")


def what_is_wrong_is_found(place):
    """The parser is as strict as we take it to be."""
    for page in ("# TYPE a counter\na 1\n# EOF\n", "# TYPE a counter\na_total 1\n",
                 "# TYPE a gauge\n\na 1\n# EOF\n",
                 "# HELP a \\x\n# TYPE a gauge\na 1\n a 2\n# EOF\n",
                 '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\n# EOF\n'):
        try:
            families_of(page)
        except Failure:
            continue
        raise Failure(f"the parser takes {page!r}")


if __name__ == "__main__":
    if not (PACKAGES / "prometheus_client").is_dir():
        print(f"skipped: prometheus_client not found in {PACKAGES}; 'make servers' fetches it")
        sys.exit(harness.EXIT_SKIPPED)
    harness.main([any_snapshot_is_valid, a_decimal_comma_changes_nothing, what_is_wrong_is_found],
                 servers=("promtool",))
