# SPDX-License-Identifier: Apache-2.0
"""The order of a benchmark: runs, each with every side started anew, and rounds to and fro.

A side's samples count only once its totals of that run were compared, because the work of a side
that died is not known. A twin has two processes of each side in a run, which take turns round by
round.
"""

import shutil
import sys
import time

from bench_sides import Failed, Side

WITHOUT = "without"


class Collected:
    """Samples and what they were taken by; one of them, or two for a twin."""

    def __init__(self):
        self.benchmarks = {}
        self.missing = {}

    def add(self, side, run, rounds, samples):
        """The rounds of one side in one run: a list of what each said."""
        for name, unit in side.units.items():
            entry = self.benchmarks.setdefault(name, {
                "unit": unit, "side": side.name, "runs": [], "disturbed": 0, "overlap_least": 1.0})
            while len(entry["runs"]) <= run:
                entry["runs"].append([None] * rounds)
            for number, said in enumerate(samples):
                if name in said:
                    entry["runs"][run][number] = said[name]["value"]
                    entry["disturbed"] += int(said[name].get("disturbed", 0))
                    entry["overlap_least"] = min(entry["overlap_least"],
                                                 said[name].get("overlap", 1.0))

    def even_out(self, runs, rounds):
        for entry in self.benchmarks.values():
            entry["runs"] += [[None] * rounds for _ in range(runs - len(entry["runs"]))]


class Progress:
    """Where it is and how long it takes; on a terminal one line that is written over."""

    def __init__(self, runs, rounds, stream=None):
        self.runs, self.rounds = runs, rounds
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.took = {}  # seconds of the last round, by member
        self.shown = 0

    def show(self, run, number, member, members):
        if not self.terminal and (number != 0 or member is not members[0]):
            return
        left = self.left(run, number, member, members)
        text = f"run {run + 1} of {self.runs}"
        if self.terminal:
            text += f", round {number} of {self.rounds}: {member.label()}"
        text += f"; about {left / 60:.0f} min left" if left > 90 else \
            f"; about {left:.0f} s left" if left > 0 else ""
        if self.terminal:
            # a line that is wrapped cannot be written over
            text = text[:max(shutil.get_terminal_size().columns - 1, 20)]
            print("\r" + text.ljust(self.shown), end="", file=self.stream, flush=True)
            self.shown = len(text)
        else:
            print(text, file=self.stream, flush=True)

    def left(self, run, number, member, members):
        if len(self.took) < len(members):
            return 0
        left, behind = 0.0, members.index(member)
        for place, each in enumerate(members):
            for later in range(run, self.runs):
                begin = number + (place < behind) if later == run else 0
                left += self.took[each.label()] * sum(
                    each.side.takes_part(later, one) for one in range(begin, self.rounds + 1))
        return left

    def clear(self):
        if self.terminal and self.shown:
            print("\r" + " " * self.shown + "\r", end="", file=self.stream, flush=True)
            self.shown = 0


class Member:
    """A side in a run, in one of its variants, and its answers."""

    def __init__(self, side, variant):
        self.side = side
        self.variant = variant
        self.samples = []
        self.failed = ""

    def label(self):
        return f"{self.side.name} {self.variant}".strip()


class Rounds:
    """Runs all of it. `variants`: by name ('' or 'without') the folder of inputs, and a Collected.

    Afterwards `states` has what became of each side, `checks` what they compared."""

    def __init__(self, described, build, log, only, variants):
        self.described = described
        self.build, self.log, self.only = build, log, only
        self.variants = variants
        self.states = {each["name"]: {"state": "run", "versions": {}} for each in described}
        self.checks = []
        self.runs_begun = 0
        self.interrupted = False

    def interrupt(self):
        """From a signal handler: the round of the side that is at work is the last one."""
        self.interrupted = True

    def run_all(self, runs, rounds, progress):
        for run in range(runs):
            if self.interrupted or not self.alive():
                break
            self.runs_begun += 1
            self.one_run(run, rounds, progress)
        progress.clear()
        for collected, _ in self.variants.values():
            collected.even_out(self.runs_begun, rounds)

    def alive(self):
        return [each for each in self.described
                if self.states[each["name"]]["state"] == "run"]

    def one_run(self, run, rounds, progress):
        members = []
        try:
            for each in self.alive():
                self.start(each, run, members)
            for number in range(rounds + 1):
                if self.interrupted:
                    break
                for member in members if number % 2 == 0 else reversed(members):
                    if self.interrupted:
                        break
                    if not member.failed and member.side.takes_part(run, number):
                        progress.show(run, number, member, members)
                        self.guarded(member, self.one_round, number, progress)
            for member in members:
                if not member.failed:
                    self.guarded(member, self.finish, run, rounds)
        finally:
            for member in members:
                member.side.end()

    def start(self, described, run, members):
        for variant, (_, inputs) in self.variants.items():
            member = Member(Side(described, self.build, self.log), variant)
            self.log.write(f"== {member.label()}, run {run + 1}\n".encode())
            self.log.flush()
            members.append(member)
            if not self.states[described["name"]]["state"] == "run":
                member.failed = "its twin failed"
                continue
            self.guarded(member, member.side.start, inputs, self.only)
            if not member.failed:
                self.states[described["name"]]["versions"] = member.side.hello.get("versions", {})
                for missing in member.side.hello.get("missing", []):
                    self.variants[variant][0].missing[missing["id"]] = missing.get("why", "")
        if not all(member.side.takes_part(run, 1) for member in members[-len(self.variants):]):
            for member in members[-len(self.variants):]:
                member.side.end()
            del members[-len(self.variants):]

    def guarded(self, member, what, *arguments):
        try:
            if what in (self.one_round, self.finish):
                what(member, *arguments)
            else:
                what(*arguments)
        except Failed as why:
            member.failed = str(why)
            state = self.states[member.side.name]
            state.update(state="failed", why=member.failed)

    def one_round(self, member, number, progress):
        begun = time.monotonic()
        said = member.side.round(number)
        seconds = time.monotonic() - begun
        progress.took[member.label()] = seconds
        state = self.states[member.side.name]
        state["seconds"] = round(state.get("seconds", 0) + seconds, 1)
        if number > 0:
            member.samples.append(said)

    def finish(self, member, run, rounds):
        checks = member.side.finish()
        self.checks += [dict(check, side=member.label()) for check in checks]
        self.variants[member.variant][0].add(member.side, run, rounds, member.samples)
