# SPDX-License-Identifier: Apache-2.0
"""Metric manifests: reading them, and what is generated from them.

    from crest_catalogue import load
    manifests, problems = load(["comm.metrics.yaml", "casper.metrics.yaml"])
    for problem in problems:
        print(problem)                      # comm.metrics.yaml:12:5: ...
    for metric in manifests[0].metrics:
        for exported in exported_names(metric):
            print(exported.name, exported.type)

manifest_model   what a manifest is: Manifest, Metric, Label, Problem
manifest_nodes   YAML nodes with their places, and problems of them
manifest_load    from YAML to the model, with every problem of a file at once
manifest_tree    checks across metrics and manifests: owners, clashes
exported_names   the exported names of a metric; a twin of the library's src/names/names.c

It knows no naming rules beyond those that the library enforces: the others are crest lint's.
"""

from .exported_names import exported_name, exported_names, parts, taken_names
from .manifest_load import load, load_file
from .manifest_model import (INSTRUMENTS, STATUSES, UNITS, Alert, Label, Manifest, Metric,
                             Position, Problem, RecordingRule)

__all__ = ["INSTRUMENTS", "STATUSES", "UNITS", "Alert", "Label", "Manifest", "Metric", "Position",
           "Problem", "RecordingRule", "exported_name", "exported_names", "load", "load_file",
           "parts", "taken_names"]
