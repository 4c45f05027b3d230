#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1200 slow
"""Spans from Scala: futures, and fibers of cats-effect 2 (Scala 2.12) and 3 (2.13 and 3), compiled
with warnings as errors. As in test_jvm_spans.py each span says whose child it is to be.
"""

import collections
import os
import sys

import jvmlib
from jvmspanlib import accounted, right_parents, run

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))
sys.path.insert(0, str(jvmlib.ROOT / "jvm-shim/crest-scala"))

import harness  # noqa: E402
import scala_jars  # noqa: E402
from harness import Failure, Skip, equal  # noqa: E402

SCALA = jvmlib.ROOT / "tests/jvm/scala_spans"


def fetched():
    """The compilers, and cats-effect."""
    try:
        return scala_jars.fetch()
    except scala_jars.NotFetched as error:
        if os.environ.get("CI", "") not in ("", "0", "false"):
            raise Failure(f"Maven could not fetch the Scala compilers: {error}") from error
        raise Skip("no Scala compiler: Maven could not fetch it") from error


def trees_over_fibers(place):
    """FacadeChecks.scala for each Scala, and Cats2Checks.scala or Cats3Checks.scala."""
    paths = fetched()
    for scala, cats in (("2.12", "2"), ("2.13", "3"), ("3", "3")):
        libraries = paths[f"cats{cats}-{scala}"].split(":")
        sources = [*scala_jars.sources(scala_jars.CORE, scala_jars.OF_CATS[cats]),
                   SCALA / "FacadeChecks.scala", SCALA / f"Cats{cats}Checks.scala"]
        jdk = jvmlib.jdks()[0]
        classes = scala_jars.compiled(jdk.java, paths, scala, sources, [jvmlib.jar(), *libraries],
                                      place.folder / f"classes-{scala}")
        path = place.folder / f"scala-{scala}.jsonl"
        page, spans = run(JDKS[-1], f"checks.Cats{cats}Checks", path,
                          [jvmlib.jar(), classes, *libraries,
                           *scala_jars.library(paths[f"compiler-{scala}"])])
        # 30 blocks of 8 parts with a store each, and 10 of 5 parts with a store of futures
        equal(right_parents(spans), 30 * 16 + 10 * 5, f"children of Scala {scala}")
        ends = collections.Counter((span["name"], span["outcome"]) for span in spans
                                   if span["outcome"] != "ok")
        equal(ends, {("tree.block-time", "error"): 2, ("tree.block-time", "cancelled"): 1,
                     ("tree.part-time", "error"): 1}, f"failed spans of Scala {scala}")
        equal(sum(span["name"] == "tree.source.time" for span in spans), 1, "a source's span")
        accounted(page, len(spans))
        for line in ("words_blocks_total 6", 'words_messages_total{kind="ping",peer="10.0.0.7"} 1',
                     "words_level 2", "tree_source_finished_block_total 1"):
            if f"\n{line}\n" not in page:
                raise Failure(f"no {line!r} on the page of Scala {scala}")


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([trees_over_fibers], servers=())
