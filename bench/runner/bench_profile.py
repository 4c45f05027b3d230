# SPDX-License-Identifier: Apache-2.0
"""Workloads as data: the history of defaults, a profile over it, overlays over that.

Each is a JSON object; one is laid over the other by `laid_over`, key by key and to any depth, the
later one winning. Null takes a key away, an empty object empties one. Which settings there are, and
of which type, is what the history and OWN say, so that a new setting is a new entry of the history.
"""

import datetime
import json
import re

import bench_sides

PROFILES = bench_sides.BENCH / "profiles"

# Settings that the program itself reads. All others are the workload's.
OWN = {"text": "", "runs": 1, "rounds": 1, "sides": [""], "only": ""}

# An object with free keys: options of crest_start.
OPEN = {"library"}

NUMBER = (int, float)
NAMES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
         float: "a number"}

# What a number must at least be, and may be at most; of a list, each of its numbers. The most are
# what programs can still take: 64-bit nanoseconds, and lists that fit into memory.
NS = 1 << 60
BOUNDS = {"runs": (1, 1000), "rounds": (1, 10000), "threads": (1, 1024), "metrics": (1, 1000000),
          "label_keys": (0, 64), "label_values": (1, 1000000), "series": (1, 4000000),
          "histogram_series": (1, 1000000), "even_most": (1, NS), "bounds_ns": (1, NS),
          "static_metrics": (0, 1000000), "scrape_s": (1, 3600), "node_blocks": (1, 10000000),
          "node_deploys": (1, 100000), "values.median_ns": (1, NS), "values.sigma": (0, 20),
          "values.least_ns": (0, NS), "values.most_ns": (1, NS), "values.seed": (0, 1 << 63)}


class Refused(Exception):
    """An invalid profile, overlay or setting; the text says which and why."""


def read_json(path, what):
    """The content of a file that a person wrote."""
    def no_twice(pairs):
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise Refused(f"{path}: {twice[0]!r} is there twice")
        return dict(pairs)

    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=no_twice)
    except OSError as error:
        raise Refused(f"{what} cannot be read: {error}") from error
    except ValueError as error:
        raise Refused(f"{path} is no JSON: {error}") from error


def laid_over(under, over):
    """`over` laid over `under`, neither of which is changed."""
    if not isinstance(under, dict) or not isinstance(over, dict) or not over:
        return over
    merged = dict(under)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = laid_over(merged.get(key), value) if key in merged else bare(value)
    return merged


def bare(value):
    """Without the nulls, which have nothing to take away."""
    if not isinstance(value, dict):
        return value
    return {key: bare(each) for key, each in value.items() if each is not None}


def file_names(folder):
    return sorted(path.stem for path in folder.glob("*.json"))


def named(folder, name, what):
    """The object in a folder's file of that name."""
    names = [each for each in file_names(folder) if each not in ("history", "twins")]
    if name not in names:
        raise Refused(f"there is no {what} {name!r}; there are: {', '.join(names) or 'none'}")
    found = read_json(folder / f"{name}.json", f"{what} {name}")
    if not isinstance(found, dict):
        raise Refused(f"{what} {name} is {NAMES.get(type(found), 'null')}, not an object")
    return found


class Catalogue:
    """The folder of profiles: what there is, and how it is folded."""

    def __init__(self, folder=PROFILES):
        self.folder = folder
        self.history = read_json(folder / "history.json", "the history of defaults")
        self.check_history()
        # every setting that ever was, to say which there are and of which type
        self.known = dict(OWN)
        for entry in self.history:
            self.known = laid_over(self.known, entry["changes"])

    def check_history(self):
        if not isinstance(self.history, list) or not self.history:
            raise Refused("history.json is no list of entries")
        for entry in self.history:
            if not isinstance(entry, dict) or not isinstance(entry.get("changes"), dict) or \
                    not re.fullmatch(r"\d{4}-\d\d-\d\d", str(entry.get("date"))):
                raise Refused("history.json: each entry has a date (2026-11-21) and changes; this "
                              f"one has not: {json.dumps(entry)[:100]}")
        dates = [entry["date"] for entry in self.history]
        if dates != sorted(dates):
            raise Refused("history.json is not in the order of its dates")

    def defaults(self, up_to=None):
        """The history folded up to a version or date, and what that was in words."""
        entries = self.entries(up_to)
        folded = {}
        for entry in entries:
            folded = laid_over(folded, entry["changes"])
        versions = [entry["version"] for entry in entries if "version" in entry]
        last = entries[-1]
        words = f"of {last['date']}"
        if versions:
            words += f", version {versions[-1]}" if "version" in last else \
                f", after version {versions[-1]}"
        return folded, words

    def entries(self, up_to):
        if up_to is None:
            return self.history
        if re.fullmatch(r"\d{4}-\d\d-\d\d", up_to):
            try:
                datetime.date.fromisoformat(up_to)
            except ValueError as error:
                raise Refused(f"no defaults are of {up_to}, which is no date: {error}") from error
            found = [entry for entry in self.history if entry["date"] <= up_to]
            if not found:
                raise Refused(f"there were no defaults on {up_to}: the first are of "
                              f"{self.history[0]['date']}")
            return found
        asked = up_to.removeprefix("v")
        last = [number for number, entry in enumerate(self.history)
                if asked and (entry.get("version", "") + ".").startswith(asked + ".")]
        if not last:
            there = [entry["version"] for entry in self.history if "version" in entry]
            raise Refused(f"no defaults are of {up_to!r}: neither a date nor one of the versions "
                          f"{', '.join(there)}")
        return self.history[:last[-1] + 1]

    def fold(self, name="base", overlays=(), defaults=None, settings=()):
        """The profile that is to be run, checked, and the words of its defaults."""
        folded, words = self.defaults(defaults)
        layers = [(f"profile {name}", named(self.folder, name, "profile"))]
        for overlay in overlays:
            layers.append((f"overlay {overlay}",
                           named(self.folder / "overlays", overlay, "overlay")))
        layers += [(f"--set {setting}", self.setting(setting)) for setting in settings]
        text = ""
        for what, layer in layers:
            self.check_layer(what, layer, self.known)
            folded = laid_over(folded, layer) if layer else folded
            text = text or layer.get("text", "")
        folded["text"] = text
        check_whole(folded)
        return folded, words

    def setting(self, text):
        """`key=value`, the key with dots for depth, as an object to lay over."""
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise Refused(f"--set {text}: it has the form key=value")
        try:
            value = json.loads(value)
        except ValueError:
            pass  # a text, as it stands
        path = key.split(".", maxsplit=1)
        known = self.known.get(path[0])
        if isinstance(known, list) and not isinstance(value, (list, type(None))):
            value = [value] if not isinstance(value, str) or "," not in value else \
                [number_or_text(part) for part in value.split(",")]
        if path[0] in OPEN and len(path) == 2 and value is not None:
            value = text.partition("=")[2]
        if isinstance(known, str) and not isinstance(value, (str, type(None))):
            value = text.partition("=")[2]
        return {path[0]: {path[1]: value}} if len(path) == 2 else {key: value}

    def check_layer(self, what, layer, known, inside=""):
        """Refuses unknown keys, and values of another type."""
        for key, value in layer.items():
            name = inside + key
            if inside[:-1] in OPEN:
                if not isinstance(value, (str, type(None))):
                    raise Refused(f"{what}: {name} is {json.dumps(value)}; options of the library "
                                  "are texts")
                continue
            if key not in known:
                raise Refused(f"{what}: there is no setting {name!r}; there are: "
                              f"{', '.join(sorted(known))}")
            if value is None:
                if key in OWN and not inside:
                    raise Refused(f"{what}: {name} cannot be taken away")
                continue
            check_type(what, name, value, known[key])
            if isinstance(value, dict):
                self.check_layer(what, value, known[key], name + ".")


def number_or_text(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def same_type(value, example):
    if isinstance(example, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(example, bool)
    if isinstance(example, NUMBER):
        return isinstance(value, int) or isinstance(value, float) and isinstance(example, float)
    return isinstance(value, type(example))


def check_type(what, name, value, example):
    if not same_type(value, example):
        wanted = "a whole number" if isinstance(example, int) and isinstance(value, float) else \
            NAMES[type(example)]
        raise Refused(f"{what}: {name} is {json.dumps(value)}, but must be {wanted}")
    least, most = BOUNDS.get(name, (None, None))
    for each in value if isinstance(value, list) else [value]:
        if isinstance(value, list) and not same_type(each, example[0]):
            raise Refused(f"{what}: {name} has {json.dumps(each)} in it, but is a list of "
                          f"{'texts' if isinstance(example[0], str) else 'whole numbers'}")
        if least is not None and not each >= least:
            raise Refused(f"{what}: {name} is {each}, but must be at least {least}")
        if most is not None and each > most:
            raise Refused(f"{what}: {name} is {each}, but may be {most:,} at most")
    if isinstance(value, list) and not value:
        raise Refused(f"{what}: {name} is empty")


def check_whole(profile):
    """Checks across settings."""
    missing = [key for key in (*OWN, "values", "metrics", "threads", "bounds_ns", "even_most",
                               "label_keys", "label_values") if key not in profile]
    values = profile.get("values", {})
    missing += [f"values.{key}" for key in ("distribution", "median_ns", "sigma", "least_ns",
                                            "most_ns", "seed") if key not in values]
    if missing:
        raise Refused(f"the profile has no {', '.join(missing)}")
    if values["distribution"] not in ("log-normal", "even"):
        raise Refused(f"values.distribution is {values['distribution']!r}: log-normal and even are "
                      "known")
    if values["least_ns"] >= values["most_ns"]:
        raise Refused("values.least_ns is not below values.most_ns")
    if profile["label_values"] ** min(profile["label_keys"], 64) < profile["metrics"] and \
            profile["label_keys"]:
        raise Refused(f"{profile['label_keys']} label keys of {profile['label_values']} values are "
                      f"not enough for {profile['metrics']} metrics")
    twice = sorted({side for side in profile["sides"] if profile["sides"].count(side) > 1})
    if twice:
        raise Refused(f"sides has {twice[0]!r} twice")
    bounds = profile["bounds_ns"]
    if sorted(set(bounds)) != bounds:
        raise Refused("bounds_ns does not ascend")
    try:
        re.compile(profile["only"])
    except re.error as error:
        raise Refused(f"only is no regular expression: {profile['only']!r}: {error}") from error
    for text in [*profile["sides"], *profile.get("library", {}).values()]:
        if "\n" in text:
            raise Refused(f"a line feed is in {text!r}")


def workload_settings(profile):
    """What the lines of workload.txt say, by setting."""
    settings = {}
    for key, value in profile.items():
        if key in ("text", "started", "library"):
            continue
        if isinstance(value, dict):
            settings.update({f"{key}.{each}": setting_text(value[each]) for each in value})
        else:
            settings[key] = setting_text(value)
    if profile.get("started"):
        settings["library"] = ",".join(f"{key}={option_text(value)}" for key, value
                                       in profile.get("library", {}).items())
    return settings


def option_text(value):
    """As crest_start reads it: options separated by commas."""
    if not re.search(r"""[,"' ]""", value):
        return value
    return '"' + value.replace('"', '""') + '"'


def setting_text(value):
    if isinstance(value, list):
        return " ".join(setting_text(each) for each in value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def leaves(profile, inside=""):
    """Every setting by its dotted name."""
    found = {}
    for key, value in profile.items():
        if isinstance(value, dict):
            found.update(leaves(value, f"{inside}{key}."))
        elif key != "text":
            found[inside + key] = value
    return found


class Twin:
    """A claim about overhead, and two profiles that differ by one switch."""

    def __init__(self, catalogue, name, fold):
        twins = read_json(catalogue.folder / "twins.json", "the twins")
        if name not in twins:
            raise Refused(f"there is no twin {name!r}; there are: {', '.join(sorted(twins))}")
        self.name = name
        self.claim = twins[name]["claim"]
        self.overlays = (twins[name]["with"], twins[name]["without"])
        self.only = twins[name].get("only", ".")
        (self.profile, self.words), (self.without, _) = (fold([each]) for each in self.overlays)
        self.setting, self.values = self.one_switch()

    def one_switch(self):
        found, other = leaves(self.profile), leaves(self.without)
        differ = sorted(key for key in {*found, *other} if found.get(key) != other.get(key))
        if len(differ) != 1:
            which = ", ".join(differ) or "nothing"
            raise Refused(f"twin {self.name}: {' and '.join(self.overlays)} must differ by exactly "
                          f"one switch, and differ by {len(differ)}: {which}")
        return differ[0], (found.get(differ[0]), other.get(differ[0]))

    def lines(self):
        """Which settings of workload.txt say so."""
        found, other = workload_settings(self.profile), workload_settings(self.without)
        return {key for key in {*found, *other} if found.get(key) != other.get(key)}
