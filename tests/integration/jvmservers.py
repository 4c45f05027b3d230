# SPDX-License-Identifier: Apache-2.0
"""Servers that run in a Java VM, each one file of Maven's, fetched when a test first wants it into
build/servers/jvm and checked there. Without Java 17, Maven or its repository the test is skipped.

    zipkin = Zipkin(place).start()
    zipkin.trace(trace_id)
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error

import harness
from harness import Server, Skip

FOLDER = harness.ROOT / "build/servers/jvm"
JAVA_OLDEST = 17
FETCH_S = 400
# Maven's name and the file's SHA-256; 135 MB.
ZIPKIN = ("io.zipkin:zipkin-server:3.6.1:jar:exec",
          "d8326e0ed4f43855dba81228f688554706e52578a7c782d9a90b73f8680654a1")


def java():
    found = shutil.which("java")
    if found is None:
        raise Skip("there is no java")
    said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < JAVA_OLDEST:
        raise Skip(f"java is older than {JAVA_OLDEST}: {said[:60]!r}")
    return found


def is_whole(path, sha256):
    if not path.exists():
        return False
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256 \
            if hasattr(hashlib, "file_digest") else \
            hashlib.sha256(file.read()).hexdigest() == sha256


def jar(artifact, sha256):
    """The file, fetched once; tests beside each other fetch it once too."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    _, name, version, _, classifier = artifact.split(":")
    path = FOLDER / f"{name}-{version}-{classifier}.jar"
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_whole(path, sha256):
            return path
        if shutil.which("mvn") is None:
            raise Skip("there is no mvn, which fetches " + artifact)
        with tempfile.TemporaryDirectory(dir=FOLDER) as cache:
            try:
                done = subprocess.run(
                    ["mvn", "-q", "-B", "-Dstyle.color=never", f"-Dmaven.repo.local={cache}",
                     "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={FOLDER}"],
                    cwd=cache, capture_output=True, text=True, check=False, timeout=FETCH_S)
                said = done.stdout + done.stderr
            except subprocess.TimeoutExpired:
                said = f"no end after {FETCH_S} s"
        if not is_whole(path, sha256):
            path.unlink(missing_ok=True)
            raise Skip(f"{artifact} cannot be fetched: {said[-300:]}")
    return path


class Zipkin(Server):
    """Keeps spans in its memory, up to its end. Alone on a machine it starts in 10 s."""

    ready_s = 300

    def __init__(self, place, port=None):
        super().__init__(place, "zipkin", port)
        self.java, self.jar = java(), jar(*ZIPKIN)

    def command(self):
        return ["env", f"QUERY_PORT={self.port}", self.java, "-Xmx256m", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-Dspring.main.lazy-initialization=true", "-jar",
                os.fspath(self.jar), "--logging.level.root=WARN"]

    def is_ready(self):
        self.check_running()
        try:
            return json.loads(self.get("/health")).get("status") == "UP"
        except (OSError, ValueError, harness.Failure):
            return False

    def trace(self, trace_id):
        """The spans of a trace as it answers for it; [] if it knows none."""
        try:
            return json.loads(self.get(f"/api/v2/trace/{trace_id}"))
        except (harness.Failure, urllib.error.URLError):
            return []
