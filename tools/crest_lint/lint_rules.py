# SPDX-License-Identifier: Apache-2.0
"""The rules of crest lint: their ids, their severity, and what each requires.

Ids never change: manifests exempt metrics from them, and CI filters by them. METRICS.md has the
reasons. Errors and warnings make the exit status 1, notes do not.

    for rule in RULES.values():
        print(rule.id, rule.severity, rule.asks)
"""

import dataclasses

COMMANDS = ("manifest", "source", "live", "events")


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule."""

    id: str
    command: str     # the command that checks it
    severity: str    # error, warning or note
    asks: str        # the requirement, for --rules


TABLE = """
manifest error   manifest-error      the file is a manifest, its names valid, each its team's
manifest error   name-lower-case     lower case only
manifest error   no-underscore       dots for hierarchy, dashes between words, no underscores
manifest error   no-unit-in-name     the unit is declared beside the name, never a word of it
manifest error   no-type-in-name     the instrument is declared beside the name, never a word of it
manifest error   no-total-in-name    no total, count, rate or per-second: these are computed
manifest error   duration-name       the name of a timer ends in -time
manifest error   duration-timer      what ends in -time is a timer
manifest error   twin-counter        no counter of what a timer's count says already
manifest warning one-quantity        one metric, one quantity: no label tells quantities apart
manifest error   label-bound         all label values together make at most 2,000 series
manifest error   label-syntax        label keys are lower case letters, digits and _, at most 8
manifest error   label-reserved      no label that exporters, timers or stages use themselves
manifest warning label-identity      no label for what has no bound: ids, hashes, addresses, texts
manifest warning gauge-of-level      a queue, a pool, what is in flight: a range sampler, no gauge
manifest warning gauge-of-total      what only grows is a counter, no gauge
manifest error   split-name          one thing, one spelling, in all manifests
manifest error   retired-reason      lost and retired names say what replaces them, or why not
manifest error   replaced-by         replaced-by names a metric that there is, in its own spelling
manifest error   meaning             each metric has a meaning, which is a sentence
manifest warning unit-missing        sizes are in bytes, ratios in ratio
manifest warning unit-too-coarse     whole numbers: nanoseconds rather than seconds
manifest error   exempt-unknown      an exemption names a rule that there is
manifest warning exempt-unneeded     an exemption still exempts from something
manifest error   exempt-reason       an exemption says why
source   error   undeclared-name     each name recorded is in a manifest
source   warning undeclared-literal  a text that looks like a name of a team is one
source   error   unused-name         each metric of the code in a manifest is recorded somewhere
source   warning unused-variable     each declared variable is used somewhere
source   error   split-spelling      a name is spelled as it is declared
source   error   wrong-instrument    a metric is recorded as the instrument that is declared
source   error   wrong-labels        a family has the label keys that are declared
source   error   wrong-unit          a metric has the unit that is declared
source   error   wrong-stages        stages are those that are declared
source   error   wrong-buckets       a distribution has the buckets that are declared
source   error   wrong-description   code describes a metric with the help that is declared
source   error   retired-name        what is lost or retired is not recorded
source   warning planned-name        what is recorded is no longer planned
source   note    run-time-name       a name made at run time cannot be checked
source   note    source-unread       a file could be read as source
source   warning allow-unneeded      each comment for crest lint still allows something
live     error   live-missing        what is promised is there
live     error   live-idle           what is promised has moved
live     error   live-type           it has the type of its instrument
live     error   live-help           HELP is the help that is declared
live     error   live-labels         it has the labels that are declared
live     error   live-bound          a label has no more values than declared, and none but these
live     error   live-undeclared     what begins with a team's prefix is declared
live     warning live-retired        what is lost, retired or only planned is not there
live     error   live-stale          the page is of a process that still lives
live     error   live-page           the page is whole, and has the form that it should have
events   error   event-name          lower case, dots for hierarchy, dashes between words
events   error   event-twice         one event, one declaration, one spelling
events   error   event-branch        no event's name is the namespace of another event
events   error   event-doc           each event has a description, which is a sentence
events   warning event-unused        each event is emitted somewhere
events   error   event-rule          rules are right, and each holds for an event that there is
"""

RULES = {}
for _line in TABLE.strip().splitlines():
    _command, _severity, _id, _asks = _line.split(None, 3)
    RULES[_id] = Rule(_id, _command, _severity, _asks)


def table_text():
    """The output of --rules."""
    lines = []
    for command in COMMANDS:
        lines.append(f"crest lint {command}")
        lines += [f"  {rule.id:<20} {rule.severity:<8} {rule.asks}"
                  for rule in RULES.values() if rule.command == command]
    return "\n".join(lines) + "\n"
