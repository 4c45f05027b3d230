#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: sanitizers=none
"""What an outside profiler sees of a process with otel.context=on: OpenTelemetry's process context
(OTEP 4719) and the span that each thread is in (OTEP 4947). The reader here knows the process's
number and the two papers, and nothing of Crest.

    tests/integration/test_otel_context.py [WORD ...]     those with a word in their name; all
"""

import ctypes
import os
import platform
import re
import signal
import struct
import subprocess

import harness
from harness import Failure, Program, Skip, equal

PTRACE_ATTACH, PTRACE_DETACH, PTRACE_GETREGS = 16, 17, 12
FS_BASE = 21  # the word of x86-64's user_regs_struct
WAIT_ALL = 0x40000000  # __WALL: threads too


class Reader:
    """Reads a process from outside."""

    def __init__(self, pid):
        self.pid = pid

    def maps(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                words = line.split(maxsplit=5)
                begin, end = (int(word, 16) for word in words[0].split("-"))
                yield begin, end, int(words[2], 16), words[5].strip() if len(words) == 6 else ""

    def memory(self, address, size):
        try:
            with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
                memory.seek(address)
                return memory.read(size)
        except PermissionError as error:
            raise Skip(f"this user may not read another process: {error}") from error

    def process_context(self):
        """(resource, attributes), or None."""
        names = "[anon_shmem:OTEL_CTX]", "/memfd:OTEL_CTX", "[anon:OTEL_CTX]"
        found = [begin for begin, _, _, name in self.maps() if name.startswith(names)]
        if len(found) > 1:
            raise Failure(f"there are {len(found)} mappings named OTEL_CTX")
        if not found:
            return None
        header = self.memory(found[0], 32)
        signature, version, size, published, payload = struct.unpack("<8sIIQQ", header)
        equal(signature, b"OTEL_CTX", "the signature")
        equal(version, 2, "the version")
        if published == 0:
            raise Failure("it says that it is being changed")
        message = self.memory(payload, size)
        equal(self.memory(found[0], 32), header, "the header, read again")
        context = list(fields(message))
        resource = dict(pair(value) for key, value in fields(context[0][1]) if key == 1)
        return resource, dict(pair(value) for key, value in context[1:] if key == 2)

    def offset(self):
        """Of the thread's pointer from the thread pointer: of a library, in its GOT, where the
        relocation of the kind initial-exec put it; of the program itself, by its TLS segment."""
        for begin, _, offset, name in self.maps():
            if offset != 0 or not name.startswith(("/", "./")):
                continue
            text = subprocess.run(["readelf", "-lrW", "--dyn-syms", name], capture_output=True,
                                  text=True, check=False).stdout
            symbol = re.search(r": (\w+) +8 TLS +GLOBAL +DEFAULT +\d+ otel_thread_ctx_v1", text)
            got = re.search(r"^(\w+) .*R_X86_64_TPOFF64 .* otel_thread_ctx_v1", text, re.M)
            if got:
                return struct.unpack("<q", self.memory(begin + int(got[1], 16), 8))[0]
            if symbol:
                size, align = re.search(r"^ +TLS .* 0x\w+ 0x(\w+) R +0x(\w+)", text, re.M).groups()
                size, align = int(size, 16), int(align, 16)
                return int(symbol[1], 16) - (size + align - 1) // align * align
        raise Failure("neither program nor libraries have otel_thread_ctx_v1")

    def span(self, thread):
        """(trace, span, flags) that the stopped thread shows, or None."""
        offset, libc = self.offset(), ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 2
        if libc.ptrace(PTRACE_ATTACH, thread, None, None) != 0:
            raise Skip(f"ptrace is not allowed here: {os.strerror(ctypes.get_errno())}")
        try:
            os.waitpid(thread, WAIT_ALL)
            registers = (ctypes.c_uint64 * 27)()
            equal(libc.ptrace(PTRACE_GETREGS, thread, None, ctypes.addressof(registers)), 0,
                  "PTRACE_GETREGS")
            record, = struct.unpack("<Q", self.memory(registers[FS_BASE] + offset, 8))
            if record == 0:
                return None
            trace, span, valid, flags, size = struct.unpack("<16s8sBBH", self.memory(record, 28))
        finally:
            libc.ptrace(PTRACE_DETACH, thread, None, None)
        equal(size, 0, "bytes of attributes")
        return (trace.hex(), int.from_bytes(span, "big"), flags) if valid == 1 else None


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(message):
    """(number, bytes) of a message that has only messages and texts."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        equal(tag & 7, 2, "a wire type")
        length, at = varint(message, at)
        yield tag >> 3, message[at:at + length]
        at += length
    equal(at, len(message), "the end of a message")


def pair(message):
    """A KeyValue of a text or an array."""
    (one, key), (two, any_value) = fields(message)
    equal((one, two), (1, 2), "the fields of a KeyValue")
    (kind, value), = fields(any_value)
    return key.decode(), value.decode() if kind == 1 else list(fields(value))


class Linked(Program):
    """The program, linked with the shared library, or with the archive as docs/tracing.md says."""

    archive = False

    def __init__(self, place, name, options):
        self.made = place.folder / name
        super().__init__(place, name, options)

    def command(self):
        library = harness.BUILD / "lib"
        words = [library / "libcrest.a", "-Wl,--export-dynamic-symbol=otel_thread_ctx_v1"]
        if not self.archive:
            words = [f"-L{library}", "-lcrest", f"-Wl,-rpath,{library}"]
        subprocess.run([*os.environ.get("CC", "cc").split(), "-std=gnu11", "-Iinclude",
                        "-Ibuild/include", "-o", self.made, "tests/programs/context_program.c",
                        *words, "-lck", "-lpthread", "-lm"], cwd=harness.ROOT, check=True)
        return [self.made]


class LinkedArchive(Linked):
    archive = True


def traced(place, options, linked=Linked):
    if platform.machine() != "x86_64":
        raise Skip("the reader knows x86-64's thread pointer only")
    program = linked(place, "context_program", options)
    equal(program.begun, "OK ", "its start")
    return program, Reader(program.process.pid)


SEVEN = "345e9dd90bc6abbd293c23bfe1061891"  # the trace of operation 7, by SipHash computed apart


def a_profiler_reads_the_process_and_its_threads(place):
    long = {f"long{i}": "v" * 250 for i in range(15)}  # more than a page holds
    program, reader = traced(place, "otel.context=on,service=node,version=1.2,instance=node-1,"
                             + ",".join(f"resource.{key}={text}" for key, text in long.items()))
    resource, attributes = reader.process_context()
    version = resource.pop("telemetry.sdk.version")
    if not re.match(r"\d+\.\d+", version):
        raise Failure(f"the version of the library is {version}")
    equal(resource, {"service.name": "node", "service.version": "1.2",
                     "service.instance.id": "node-1", **long,
                     "telemetry.sdk.name": "crest", "telemetry.sdk.language": "c"}, "the resource")
    equal(attributes, {"threadlocal.schema_version": "tlsdesc_v1_dev",
                       "threadlocal.attribute_key_map": []}, "the attributes")
    first, second = (int(word) for word in program.do("threads").split())
    equal(reader.span(first), None, "the first thread before any span")
    program.do("enter 7")
    equal(reader.span(first), (SEVEN, 7, 2), "the first thread in a span")
    trace, span, _ = reader.span(second)
    equal(span, 8, "the second thread's span")
    equal(trace != SEVEN, True, "its trace is another")
    program.do("leave")
    equal((reader.span(first), reader.span(second)), (None, None), "both outside of any")


def a_child_and_a_stopped_process_have_none(place):
    program, reader = traced(place, "otel.context=on,service=parent")
    child = int(program.do("fork"))
    try:
        equal(Reader(child).process_context(), None, "the child's")
    finally:
        os.kill(child, signal.SIGKILL)
    equal(reader.process_context()[0]["service.name"], "parent", "the parent's")
    program.do("restart otel.context=on,service=again")
    equal(reader.process_context()[0]["service.name"], "again", "after another start")
    program.do("enter 7")
    program.do("stop")
    equal(reader.process_context(), None, "after the stop")
    program.do("enter 9")
    first, _ = (int(word) for word in program.do("threads").split())
    equal(reader.span(first), None, "a thread after the stop")


def a_program_of_the_archive_shows_them_too(place):
    program, reader = traced(place, "otel.context=on,service=node", LinkedArchive)
    program.do("enter 7")
    equal(reader.span(program.process.pid), (SEVEN, 7, 2), "the first thread in a span")


def nothing_is_shown_unasked(place):
    program, reader = traced(place, "service=node")
    program.do("enter 7")
    equal(reader.process_context(), None, "without the option")
    equal(reader.span(program.process.pid), None, "a thread without the option")


if __name__ == "__main__":
    harness.main([a_profiler_reads_the_process_and_its_threads,
                  a_child_and_a_stopped_process_have_none,
                  a_program_of_the_archive_shows_them_too, nothing_is_shown_unasked], servers=())
