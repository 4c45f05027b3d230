#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""`crest profile` of folded text that no node wrote, and of ports that do not speak HTTP: a picture
or a sentence, never a traceback."""

import socket
import subprocess
import threading
import xml.etree.ElementTree

import toolslib
from toolslib import TOOLS, contains, equal, lacks

SVG = "http://www.w3.org/2000/svg"


def crest_profile(*arguments, feed=b""):
    """(status, standard output, standard error)."""
    done = subprocess.run([TOOLS / "crest", "profile", *arguments], capture_output=True,
                          check=False, cwd="/", timeout=200, input=feed)
    return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace")


def drawn(feed):
    """The names in the picture of a folded text."""
    status, picture, said = crest_profile("-", feed=feed)
    equal(status, 0, said)
    titles = xml.etree.ElementTree.fromstring(picture).iter(f"{{{SVG}}}title")
    return [title.text.rpartition(": ")[0] for title in titles]


def names_are_texts_and_not_markup(_):
    name = "</title><script>alert(1)</script>]]>&\"'"
    equal(drawn(f"main;{name} 3\n".encode()), ["all", "main", name])


def names_may_have_any_bytes(_):
    names = drawn(b"main;a\x00\x1b[31mb 3\nmain;\xff\xfe 4\nmain;\xef\xbf\xbf\xc2\x85x 5\n")
    equal(sorted(names), sorted(["all", "main", "a\ufffd\ufffd[31mb", "\ufffd\ufffd",
                                 "\ufffd\ufffdx"]))


def a_line_ends_at_its_end_only(_):
    equal(drawn("main;a\u2028b 7 3\nmain;c 1\r\n".encode()), ["all", "main", "a\ufffdb 7", "c"])


def deep_stacks_are_drawn(_):
    equal(len(drawn(";".join(f"f{i}" for i in range(5000)).encode() + b" 9\n")), 5001)


def nothing_to_draw_is_said(_):
    for feed in (b"", b"main 0\n", "main ²\n".encode(), b"main -3\n", b"main\n"):
        status, picture, said = crest_profile("-", feed=feed)
        equal((status, picture), (1, ""), said)
        contains(said, "no samples")
        lacks(said, "Traceback")


def a_full_disk_is_said(_):
    """A device that is always full, as a graph's file and as folded text."""
    for arguments in (["-"], ["--folded", "-"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOLS / "crest", "profile", *arguments], check=False,
                                  timeout=200, input=b"main;a 3\n", stdout=full,
                                  stderr=subprocess.PIPE)
        equal((done.returncode, done.stderr.decode().count("\n")), (2, 1), done.stderr)
        contains(done.stderr.decode(), "standard output takes no more of the ")
        contains(done.stderr.decode(), "No space left on device. Send them elsewhere")


def a_port_that_does_not_speak_http(_):
    """As a node has them for its peers, beside that of its profiles."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def answer():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                connection.sendall(b"SSH-2.0-node\r\n\r\n")

    threading.Thread(target=answer, daemon=True).start()
    for target in (f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port}/a b"):
        status, _, said = crest_profile("--seconds=1", target)
        equal(status, 2, said)
        contains(said, f"127.0.0.1:{port}")
        lacks(said, "Traceback")


if __name__ == "__main__":
    toolslib.main([names_are_texts_and_not_markup, names_may_have_any_bytes,
                   a_line_ends_at_its_end_only, deep_stacks_are_drawn, nothing_to_draw_is_said,
                   a_full_disk_is_said, a_port_that_does_not_speak_http])
