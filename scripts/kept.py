# SPDX-License-Identifier: Apache-2.0
"""Where tests keep what takes minutes of processor to make and is the same in every clone of the
tree: ${XDG_CACHE_HOME:-~/.cache}/crest-tests, which may be removed at any time. What lies there has
all that it was made of in its name, as a checksum.

    place = kept.folder("models")          None where there is no home that can be written
    kept.put(made, place / name)           at once and whole, or not at all
"""

import contextlib
import os
import pathlib
import shutil
import tempfile
import time

UNUSED_S = 30 * 24 * 3600


def folder(name):
    """The folder of that name, without what was not used for a month."""
    try:
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        place = cache / "crest-tests" / name
        place.mkdir(parents=True, exist_ok=True)
        for entry in place.iterdir():
            if entry.stat().st_mtime < time.time() - UNUSED_S:
                entry.unlink()
    except (OSError, RuntimeError):
        return None
    return place if os.access(place, os.W_OK) else None


def put(source, path):
    """A copy of the file under this path; a reader never sees a part of it. Without room for it
    there is none."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    os.close(handle)
    try:
        shutil.copy(source, part)
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part)


def take(path, target):
    """The reverse; whether it was there."""
    try:
        os.utime(path)
        shutil.copy(path, f"{target}.part")
        os.replace(f"{target}.part", target)
    except OSError:
        return False
    return True
