# SPDX-License-Identifier: Apache-2.0
"""Runs `crest cat`, which knows state files, for the commands that are written in Python.

    page, said = cat("/run/node/node.crest")
    document, _ = cat("--json", "4711")
"""

import os
import pathlib
import subprocess

TIMEOUT_S = 60
HERE = pathlib.Path(__file__).resolve().parent


class Unprinted(Exception):
    """crest cat did not print the file; says why."""


def cat(*arguments):
    """(standard output as bytes, standard error as a text)."""
    folder = os.environ.get("CREST_LIBEXEC") or (
        HERE.parents[1] / "libexec/crest" if HERE.name == "crest"
        else HERE.parent / "build/release/libexec")
    program = pathlib.Path(folder) / "crest-cat"
    try:
        done = subprocess.run([program, *arguments], capture_output=True, check=False,
                              timeout=TIMEOUT_S)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise Unprinted(f"{arguments[-1]}: {program}: {error}") from error
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode != 0:
        raise Unprinted(said)
    return done.stdout, said
