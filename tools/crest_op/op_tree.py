# SPDX-License-Identifier: Apache-2.0
"""An operation's spans as trees, and the trees as text.

    for trace, roots in trees(spans):
        print("\\n".join(show(roots, width=100)))

Any ids are taken as they come: a parent that is not there makes a root, a circle is cut at its
earliest span, of two spans with one id the first has the children. Nothing here recurses.
"""

import collections

CHILDREN_MAX = 50  # of a span, that are shown
BAR_COLUMNS = 24


def chosen(spans, wanted):
    """Those of the operation: by its text, the beginning of its hash, or a trace id."""
    same = wanted.lower()
    digits = same.removeprefix("0x")
    is_hash = len(digits) >= 4 and all(digit in "0123456789abcdef" for digit in digits)
    traces = {span.trace for span in spans if span.operation == wanted and span.trace}
    found = []
    for span in spans:
        operation = span.operation.lower()
        if (span.operation == wanted or span.trace in traces or
                is_hash and (operation.startswith("0x" + digits) or
                             span.trace.startswith(digits))):
            found.append(span)
    traces = {span.trace for span in found if span.trace}
    return [span for span in spans if span.trace in traces or
            any(span is other for other in found if not other.trace)] if traces else found


def by_operation(spans):
    """{operation or trace: spans}; open operations are with the finished ones of their name."""
    names = {span.trace: span.operation for span in spans if span.trace and span.operation}
    groups = collections.defaultdict(list)
    for span in spans:
        groups[span.operation or names.get(span.trace) or span.trace].append(span)
    return groups


def order(span):
    return span.start_ns, -span.end_ns


def circles(spans, reached):
    """A span of each circle of parents, its earliest."""
    for span in sorted(spans, key=order):
        if id(span) in reached:
            continue
        yield span
        reach(span, reached)


def reach(root, reached):
    """Marks what is below a root, and takes out children that were there before."""
    reached.add(id(root))
    walk = [root]
    while walk:
        span = walk.pop()
        span.children = [child for child in span.children if id(child) not in reached]
        for child in span.children:
            reached.add(id(child))
        walk += span.children


def trees(spans):
    """The roots, earliest first; each span is in one tree, once."""
    first = {}
    for span in sorted(spans, key=order):
        span.children, span.lost_parent = [], False
        if span.id:
            first.setdefault((span.trace, span.id), span)
    roots = []
    for span in spans:
        parent = first.get((span.trace, span.parent)) if span.parent else None
        if parent is None or parent is span:
            span.lost_parent = bool(span.parent)
            roots.append(span)
        else:
            parent.children.append(span)
    reached = set()
    for root in roots:
        reach(root, reached)
    for span in circles(spans, reached):
        span.lost_parent = True
        roots.append(span)
    for span in spans:
        span.children.sort(key=order)
    return sorted(roots, key=order)


def clean(text, most=200):
    """A peer's text, for a terminal: no control characters, no line that never ends."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:most + 1])
    return text if len(text) <= most else text[:most] + "…"


def duration(ns):
    for unit, size in (("s", 10 ** 9), ("ms", 10 ** 6), ("µs", 10 ** 3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}" if abs(ns) < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns} ns"


def bar(span, begin, end):
    """Where the span lies in the whole."""
    whole = max(1, end - begin)
    left = min(BAR_COLUMNS - 1, (span.start_ns - begin) * BAR_COLUMNS // whole)
    right = max(left + 1, min(BAR_COLUMNS, -((begin - span.end_ns) * BAR_COLUMNS // whole)))
    return " " * left + ("▒" if span.open else "█") * (right - left) + " " * (BAR_COLUMNS - right)


def what(span):
    """What is said of a span behind its name."""
    words = []
    if span.folded:
        words.append(f"×{span.folded['count']}, longest {duration(span.folded['max_ns'])}")
    if span.open:
        words.append("OPEN")
    elif span.outcome != "ok":
        words.append(span.outcome.upper())
    if span.message:
        words.append(f'"{clean(span.message)}"')
    for key, value in span.attributes.items():
        shown = value if isinstance(value, str) else str(value).lower() \
            if isinstance(value, bool) else str(value)
        words.append(f"{clean(key)}={clean(shown)}")
    if span.dropped_attributes:
        words.append(f"{span.dropped_attributes} more")
    if span.lost_parent:
        words.append(f"(below {clean(span.parent)}, which is not here)")
    return " ".join(words)


def rows(roots, all_children):
    """(span or None, depth marks, text of a row without a span)."""
    walk = [(root, "", "") for root in reversed(roots)]
    while walk:
        span, first, rest = walk.pop()
        if isinstance(span, str):
            yield None, first, span
            continue
        yield span, first, ""
        shown = span.children if all_children else span.children[:CHILDREN_MAX]
        more = span.children[len(shown):]
        below = [(child, rest + "├─ ", rest + "│  ") for child in shown]
        if more:
            total = sum(child.duration_ns for child in more)
            below.append((f"… {len(more)} more, {duration(total)} in all; --all shows them",
                          rest + "└─ ", rest + "   "))
        elif below:
            below[-1] = (shown[-1], rest + "└─ ", rest + "   ")
        for at, name in span.events:
            yield None, rest + ("│  " if below else "   "), (
                f"· {clean(name)} after {duration(at - span.start_ns)}")
        walk += reversed(below)


def show(roots, begin, end, all_children=False):
    """Lines of text: bar, start, duration, tree, and what is said of each."""
    node = None
    for span, marks, text in rows(roots, all_children):
        if span is None:
            yield f"{'':{BAR_COLUMNS}} {'':>9} {'':>9}  {marks}{text}"
            continue
        named = clean(span.node) if span.node != node and (span.node or node) else ""
        node = span.node
        said = what(span)
        yield (f"{bar(span, begin, end)} {'+' + duration(span.start_ns - begin):>9} "
               f"{duration(span.duration_ns):>9}  {marks}{clean(span.name)}"
               + (f"  {said}" if said else "") + (f"  [{named}]" if named else "")).rstrip()
