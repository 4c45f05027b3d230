# SPDX-License-Identifier: Apache-2.0
"""Lays out tables of text: the live table of all figures, and the small ones of each moment."""

import figures

LABEL_COLUMNS = 33
CELL_COLUMNS = 13
# How old a table may be on a machine that is too busy for scrapes.
SCRAPES_S = 30


def small(screen, head, rows, marked=()):
    """Lines of a table; the first column to the left, the others to the right."""
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]

    def line(row, *styles):
        cells = [str(row[0]).ljust(widths[0])]
        cells += [str(text).rjust(width) for text, width in zip(row[1:], widths[1:])]
        return "   " + screen.paint("   ".join(cells), *styles)

    return [line(head, "dim")] + [line(row, *(("green",) if index in marked else ()))
                                  for index, row in enumerate(rows)]


class Live:
    """The one table of the demo: a row for each of operators' questions."""

    def __init__(self, screen, prometheus, names):
        self.screen = screen
        self.prometheus = prometheus
        self.names = names
        self.sections = figures.sections(names)
        self.unknown = 0
        self.arrived = False
        self.summary = ""

    def head(self):
        line = " " * LABEL_COLUMNS + "".join(name.rjust(CELL_COLUMNS)
                                             for name in [*self.names, "all"])
        return self.screen.paint(line, "bold")

    def read(self):
        """Asks for every figure, and returns the table's lines."""
        lines = [self.head()]
        self.unknown = 0
        cells = {}
        self.prometheus.settle(SCRAPES_S)
        for title, rows in self.sections:
            if title:
                lines.append(self.screen.paint(" " + title, "cyan"))
            for row in rows:
                found = row.read(self.prometheus, self.names)
                self.unknown += sum("–" in text for text in found)
                cells[row.label] = found
                lines.append(f"   {row.label:<{LABEL_COLUMNS - 3}}"
                             + "".join(text.rjust(CELL_COLUMNS) for text in found))
        self.prometheus.moment = None

        def of(label):
            return next(found[-1] for key, found in cells.items() if key.endswith(label))

        def last(text):
            return text.split(" / ")[-1]

        self.arrived = "–" not in of("figures, s")
        self.summary = (f"{last(of('accepted'))} deploys/s, {last(of('finalised'))} transfers/s, "
                        f"consensus 1/3 in {of('one peer voted').split(' ')[0]} ms, data "
                        f"{of('figures, s')} s old")
        return lines
