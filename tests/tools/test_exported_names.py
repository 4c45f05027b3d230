#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""The Python twin of the library's exported names against the library itself: every metric of
every manifest of the tree, and of one that has every instrument with every setting, is declared by
a generated header, recorded, and looked for on a page of all windows."""

import re

import programs
import toolslib
from toolslib import ROOT, Failure, Skip, equal

from crest_catalogue import exported_names, load, taken_names

SAMPLE = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)(?:\{(.*)\})? (\S+)")
KEY = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="(?:[^"\\]|\\.)*"')
EVERYTHING = ROOT / "tests/tools/everything.metrics.yaml"


def samples(text):
    """{name: its label keys, `le` left out} of the samples of a page."""
    found = {}
    for line in text.splitlines():
        match = SAMPLE.match(line) if not line.startswith("#") else None
        if match:
            keys = tuple(key for key in KEY.findall(match.group(2) or "") if key != "le")
            found[match.group(1)] = keys
    return found


def types(text):
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))


def own(names, manifest):
    """Without the library's own metrics, unless the manifest is about these."""
    ours = manifest.prefix_of("crest") is not None
    return {name: what for name, what in names.items() if ours or not name.startswith("crest_")}


def check(manifest, place):
    program, whole = programs.build(manifest, place)
    said = toolslib.command([program, "pages", place])
    equal(said, "", f"{manifest.path}: what the library said of the generated declarations")
    text = (place / "page.txt").read_text(encoding="utf-8")
    found = own(samples(text), manifest)
    wanted = {name.name: name for metric in whole.metrics for name in exported_names(metric)}
    # with several deadlines not all of them can be half over at once
    stuck = {name for name, what in wanted.items() if what.part.role == "stuck"}
    several = len({metric.deadline_ms for metric in whole.metrics
                   if metric.instrument in ("keyed-timer", "stages")}) > 1
    if several:
        wanted = {name: what for name, what in wanted.items() if name in found or
                  name not in stuck}
    ours = manifest.prefix_of("crest") is not None
    missing, more = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    if missing or more and not ours:
        raise Failure(f"{manifest.path}: wanted and not on the page: {missing}; "
                      f"there and not wanted: {more}")
    kinds = types(text)
    for name, what in wanted.items():
        equal(found[name], what.part.label_keys, f"{manifest.path}: label keys of {name}")
        family = name if what.sample not in ("bucket", "sum", "count") else \
            name[:-len(what.sample) - 1]
        equal(kinds[family], what.type, f"{manifest.path}: type of {family}")
    check_taken(manifest, whole, (place / "page.om").read_text(encoding="utf-8"), ours)


def check_taken(manifest, whole, text, ours):
    """Families and samples of OpenMetrics, births included, are names that the metric takes."""
    page = own({**samples(text), **types(text)}, manifest)
    taken = {name for metric in whole.metrics for name in taken_names(metric)}
    if set(page) - taken and not ours:
        raise Failure(f"{manifest.path}: on the page and not taken: {sorted(set(page) - taken)}")
    born = any(name.endswith("_created") for name in taken)
    if not ours and born and not any(name.endswith("_created") for name in page):
        raise Failure(f"{manifest.path}: no births on the page")


def read(path):
    manifests, problems = load([path])
    equal([str(problem) for problem in problems], [], "problems")
    return manifests[0]


def every_instrument_with_every_setting(place):
    check(read(EVERYTHING), place)


def every_manifest_of_the_tree(place):
    # not below build/, where test_demo.py makes folders and removes them beside this
    folders = [folder for folder in sorted(ROOT.iterdir()) if folder.is_dir()
               and folder.name not in ("build", "tests") and not folder.name.startswith(".")]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.metrics.yaml"))]
    if not paths:
        raise Skip("there is no manifest in the tree")
    for path in paths:
        manifest = read(path)
        folder = place / "-".join(path.relative_to(ROOT).parts)
        folder.mkdir()
        check(manifest, folder)


toolslib.main([every_instrument_with_every_setting, every_manifest_of_the_tree])
