#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900
"""A distribution's jar, as `make install-java` installs it: it records through the libraries that
the system has, and says what to install where they are not there."""

import os
import pathlib
import shlex
import subprocess
import tempfile

import jvmlib

ASK = """public class Ask {
    public static void main(String[] arguments) {
        io.crest.Counter blocks = io.crest.Counter.of("installed.blocks", "Counted.");
        blocks.increment(7);
        System.out.println("counted " + blocks.value());
        System.out.println("release " + io.crest.Crest.version());
        System.out.println("reason " + io.crest.Crest.unavailableReason());
    }
}
"""
DATE_SINCE = 17  # from this JDK on jar takes a date


def install(folder):
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
    subprocess.run([os.environ.get("MAKE", "make"), "-s", "-C", jvmlib.ROOT, "install-java",
                    f"DESTDIR={folder}", "PREFIX=/usr", "LIBDIR=/usr/lib", *settings], check=True)


def main():
    tally = jvmlib.Tally()
    here = jvmlib.needs("built")
    if here[-1].feature < DATE_SINCE:
        jvmlib.skip(f"no JDK from Java {DATE_SINCE} on")
    version = jvmlib.jar().stem.rsplit("-", 1)[1]
    with tempfile.TemporaryDirectory(prefix="crest-java-") as folder:
        install(folder)
        java = pathlib.Path(folder, "usr/share/java/crest-jvm.jar")
        poms = pathlib.Path(folder, "usr/share/maven-repo/io/crest")
        linked = poms / f"crest-jvm/{version}/crest-jvm-{version}.jar"
        ask = pathlib.Path(folder, "Ask.java")
        ask.write_text(ASK)
        # The libraries lie beside the build's, as /usr/lib is not this test's to write.
        env = {**os.environ, "LD_LIBRARY_PATH": str(jvmlib.BUILD / "lib")}
        for jdk in here:
            for title, path, wanted in (
                    ("with the library", f"{folder}/usr/lib/jni",
                     ["counted 7", f"release {version}", "reason null"]),
                    ("without it", folder, ["counted 0", "apt install libcrest-jni"])):
                status, output = jvmlib.bounded(
                    [jdk.java, *jdk.options(), f"-Djava.library.path={path}", "-cp", java, ask],
                    env, jvmlib.TIMEOUT_S)
                lacking = [text for text in wanted if text not in output]
                print(f"{'FAIL' if status or lacking else 'ok  '} {jdk}, {title}")
                if status or lacking:
                    tally.problem(f"{title}: status {status}, lacks {lacking}", output)
                else:
                    tally.passed += 1
        same = linked.read_bytes() == java.read_bytes()
        parent = poms / f"crest-jvm-parent/{version}/crest-jvm-parent-{version}.pom"
        print(f"{'ok  ' if same and parent.exists() else 'FAIL'} POMs and the jar beside them")
        if same and parent.exists():
            tally.passed += 1
        else:
            tally.problem("the Maven repository's folder", f"jar {same}, {parent}")
    tally.finish()


if __name__ == "__main__":
    main()
