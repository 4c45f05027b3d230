#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/in-debian where there can be no other release: it ends as a skipped test does, and says
why. What it does where there can be one, .ci/run shows."""

import os
import shutil
import subprocess
import sys

import toolslib
from toolslib import EXIT_SKIPPED, Skip, contains, equal

SCRIPT = toolslib.ROOT / "scripts/in-debian"


# For another user this Python may not be readable, so the program is only told that it is one.
AS_NOBODY = """import os, sys
os.geteuid = lambda: 65534
sys.argv[:1] = []
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), {"__name__": "__main__",
                                                              "__file__": sys.argv[0]})"""


def reason(path, *command):
    """What it says last, with that search path; it must end as skipped."""
    done = subprocess.run([sys.executable, *(command or [SCRIPT]), "trixie", "true"],
                          env={"PATH": str(path)}, capture_output=True, text=True, check=False,
                          timeout=170)
    equal(done.returncode, EXIT_SKIPPED, f"exit status, {done.stdout}{done.stderr}")
    return done.stderr.splitlines()[-1]


def needs_root():
    if os.geteuid() != 0:
        raise Skip("only root gets as far")


def programs(place, texts):
    """A folder of shell scripts, to be searched for programs."""
    for name, text in texts.items():
        path = place / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    return place


def says_that_it_needs_root(_):
    command = ["-c", AS_NOBODY, str(SCRIPT)] if os.geteuid() == 0 else []
    contains(reason(os.environ["PATH"], *command), "trixie here: debootstrap and chroot need root")


def says_what_a_system_lacks(place):
    needs_root()
    contains(reason(place), "there is no apt-get on this system")


def says_that_namespaces_are_closed(place):
    needs_root()
    fakes = programs(place, {"apt-get": "", "apt-config": "", "pivot_root": "",
                             "unshare": "exit 1"})
    contains(reason(fakes), "namespaces of mounts and processes are closed")


def says_that_there_is_no_mirror(place):
    needs_root()
    fakes = programs(place, {"apt-get": "echo http://192.0.2.1/debian main stable",
                             "apt-config": "", "pivot_root": "", "unshare": "",
                             "debootstrap": "echo E: no such release; exit 1",
                             "rm": f'exec {shutil.which("rm")} "$@"'})
    contains(reason(fakes), "debootstrap made no trixie of any of apt's mirrors here (1)")


if __name__ == "__main__":
    toolslib.main([says_that_it_needs_root, says_what_a_system_lacks,
                   says_that_namespaces_are_closed, says_that_there_is_no_mirror])
