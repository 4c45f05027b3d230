#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/build-servers with a Go that is a shell script: what is built, when it is built again,
and what is said where something is not to be had. What Go itself makes, the tests that talk to the
servers show."""

import http.server
import os
import shutil
import subprocess
import sys
import threading

import toolslib
from toolslib import contains, equal

# Writes down how it was called; the program that it makes is its own arguments.
GO = """#!/bin/sh
[ "$1" != version ] || { echo "go version go$VERSION linux/amd64"; exit 0; }
echo "$(basename "$PWD") $GOFLAGS $CGO_ENABLED" >> "$CALLS"
[ "$(basename "$PWD")" != "$FAILS" ] || { echo "go: downloading x"; echo "x.go:1: no moon"; exit 1
}
echo written > go.sum
while [ "$1" != -o ]; do shift; done
echo "$@" > "$2" && chmod +x "$2"
"""
NAMES = ["collector", "prometheus", "pushgateway", "statsd_exporter", "telegraf", "victoriametrics"]


class Tree:
    """A tree with the script and the folders of the servers, and a folder for PATH."""

    def __init__(self, place, name="tree"):
        self.root = place / name
        self.cache = place / "cache"
        self.bin = self.root / "bin"
        self.calls = self.root / "calls"
        (self.root / "scripts").mkdir(parents=True)
        self.bin.mkdir(parents=True)
        for name in ("build-servers", "kept.py"):
            shutil.copy(toolslib.ROOT / "scripts" / name, self.root / "scripts")
        shutil.copytree(toolslib.ROOT / "tests/servers", self.root / "tests/servers")
        self.folder = self.root / "build/servers/go"
        self.put_go()

    def put_go(self):
        (self.bin / "go").write_text(GO)
        (self.bin / "go").chmod(0o755)

    def run(self, *names, version="1.26", fails="", proxy="http://127.0.0.1:1"):
        """The status, what was said, and the servers that Go was called for."""
        self.calls.write_text("")
        done = subprocess.run([sys.executable, self.root / "scripts/build-servers", *names],
                              env={**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin",
                                   "GOROOT": "/x", "VERSION": version, "FAILS": fails,
                                   "CALLS": str(self.calls), "XDG_CACHE_HOME": str(self.cache),
                                   "GOPROXY": f"{proxy},direct", "no_proxy": "127.0.0.1"},
                              capture_output=True, text=True, timeout=300, check=False)
        equal(done.stderr, "", "what it says as an error")
        calls = self.calls.read_text().splitlines()
        for call in calls:
            equal(call.split(" ", 1)[1], "-mod=mod -modcacherw 0", "the environment of Go")
        return done.returncode, done.stdout, [call.split()[0] for call in calls]


def builds_once_and_again_what_changed(place):
    tree = Tree(place)
    status, said, built = tree.run()
    equal((status, sorted(built)), (0, NAMES), said)
    contains((tree.folder / "prometheus").read_text(), "-tags remove_all_sd,netgo")
    equal(os.access(tree.folder / "collector", os.X_OK), True, "the Collector can be run")
    equal((tree.folder / "work").exists(), False, "what building needs is gone")
    pinned = tree.root / "tests/servers/collector/go.sum"
    equal(pinned.read_text() == "written\n", False, "what Go writes, it writes into a copy")
    equal(tree.run(), (0, "", []), "a second time")
    pinned.write_text(pinned.read_text() + "more\n")
    equal(tree.run()[2], ["collector"], "after a change of its go.sum")
    (tree.folder / "telegraf").unlink()
    shutil.rmtree(tree.cache)
    equal(tree.run("prometheus")[2], [], "only what is asked for")
    equal(tree.run()[2], ["telegraf"], "one that is gone")


def another_clone_takes_what_was_built(place):
    first, second = Tree(place), Tree(place, "second")
    first.run()
    status, said, built = second.run()
    equal((status, built), (0, []), said)
    for name in NAMES:
        contains(said, f"{name}: taken from {first.cache}/crest-tests/go-servers/{name}-")
        equal((second.folder / name).read_text(), (first.folder / name).read_text(), name)
        equal(os.access(second.folder / name, os.X_OK), True, f"{name} can be run")
    equal(second.run(), (0, "", []), "a second time")
    pinned = second.root / "tests/servers/telegraf/go.sum"
    pinned.write_text(pinned.read_text() + "more\n")
    equal(second.run()[2], ["telegraf"], "after a change of its go.sum")
    shutil.rmtree(second.folder)
    equal(sorted(second.run(version="1.27")[2]), NAMES, "with another Go")
    shutil.rmtree(second.folder)
    shutil.rmtree(second.cache)
    second.cache.write_text("no folder")
    equal(sorted(second.run()[2]), NAMES, "where nothing can be kept")


def says_what_failed_and_builds_the_others(place):
    tree = Tree(place)
    status, said, _ = tree.run(fails="telegraf")
    equal(status, 1, "exit status")
    why = (tree.folder / "telegraf.why").read_text()
    contains(why, "x.go:1: no moon")
    equal("downloading" in why, False, "what is no reason")
    contains(said, why)
    equal([name for name in NAMES if not (tree.folder / name).exists()], ["telegraf"], "missing")
    equal(tree.run()[2], ["telegraf"], "it is tried again")
    equal((tree.folder / "telegraf.why").exists(), False, "a reason that holds no more")


def fetches_a_go_where_there_is_none(place):
    """Or one that is too old: from the proxy, and only of the checksum that is written down."""
    tree = Tree(place)
    status, said, built = tree.run("pushgateway", version="1.19")
    equal((status, built), (1, []), "with a Go that is too old")
    contains(said, "no Go from 1.21 on here, and http://127.0.0.1:1/golang.org/toolchain/@v/")
    contains((tree.folder / "pushgateway.why").read_text(), "cannot be fetched: ")
    (tree.bin / "go").unlink()
    asked = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"another archive")

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        status, said, _ = tree.run("pushgateway", "telegraf",
                                   proxy=f"http://127.0.0.1:{proxy.server_port}/")
        proxy.shutdown()
    equal(status, 1, "exit status")
    contains(said, "has the SHA-256 ")
    equal([path.rsplit("-go1.", 1)[0] for path in asked], ["/golang.org/toolchain/@v/v0.0.1"],
          "what is asked for, once")


def says_that_it_knows_no_proxy(place):
    """Neither a Go nor GOPROXY, as on a bare machine."""
    tree = Tree(place)
    (tree.bin / "go").unlink()
    status, _, built = tree.run("pushgateway", proxy="off")
    equal((status, built), (1, []), "without Go and without a proxy")
    contains((tree.folder / "pushgateway.why").read_text(), "install Go, of any version, or set")


def refuses_names_that_are_none(place):
    done = subprocess.run([Tree(place).root / "scripts/build-servers", "prometheus2"],
                          capture_output=True, text=True, timeout=300, check=False)
    equal(done.returncode, 2, "exit status")
    contains(done.stderr, "no such server: prometheus2")


if __name__ == "__main__":
    toolslib.main([builds_once_and_again_what_changed, another_clone_takes_what_was_built,
                   says_what_failed_and_builds_the_others,
                   fetches_a_go_where_there_is_none, says_that_it_knows_no_proxy,
                   refuses_names_that_are_none])
