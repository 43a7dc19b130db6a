#!/usr/bin/python3
"""Draws what a terminal shows, as the pictures of `farvec top` in docs/operate/monitoring.md
are made.

    tmux new-session -d -s shown -x 140 -y 12 'farvec top c0:7711 m0:7700'
    tmux capture-pane -ep -t shown | scripts/docs/terminal_picture.py --out top.png --columns 140 --dark

Reads the screen's lines, with their colours (SGR: bold, inverse, the 16 colours; others are left
out), and writes them in a fixed font on a light or a dark ground. Exit status 1 when there is
nothing to draw.
"""
import argparse
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

# Of the eight colours, and of their bright ones, readable on the ground they stand on.
LIGHT = {"ground": "#ffffff", "text": "#1f2328",
         "colours": ("#24292f", "#b42318", "#116329", "#7d4e00", "#0550ae", "#6e3aa8", "#1b6f75",
                     "#57606a", "#57606a", "#cf222e", "#1a7f37", "#9a6700", "#0969da", "#8250df",
                     "#2a8a91", "#24292f")}
DARK = {"ground": "#0d1117", "text": "#e6edf3",
        "colours": ("#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf",
                    "#b1bac4", "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff",
                    "#56d4dd", "#ffffff")}
POINTS = 10  # of the font
CELL = (0.602 * POINTS / 72, 1.35 * POINTS / 72)  # inches; DejaVu Sans Mono is 0.602 em wide
MARGIN = 0.15
ESCAPE = re.compile(r"\x1b\[([0-9;:?]*)([A-Za-z])")


class Style:
    """How the text that follows looks."""

    def __init__(self):
        self.bold, self.inverse, self.colour, self.ground = False, False, None, None

    def change(self, codes):
        """By the numbers of an SGR sequence."""
        for code in [int(number or 0) for number in codes.split(";") if number.isdigit() or not number]:
            if code == 0:
                self.__init__()
            elif code in (1, 22):
                self.bold = code == 1
            elif code in (7, 27):
                self.inverse = code == 7
            elif 30 <= code <= 39:
                self.colour = code - 30 if code < 38 else None
            elif 40 <= code <= 49:
                self.ground = code - 40 if code < 48 else None
            elif 90 <= code <= 97:
                self.colour = code - 90 + 8
            elif 100 <= code <= 107:
                self.ground = code - 100 + 8

    def paint(self, theme):
        """(colour of the text, colour behind it or None, weight)"""
        text = theme["text"] if self.colour is None else theme["colours"][self.colour]
        behind = None if self.ground is None else theme["colours"][self.ground]
        if self.inverse:
            text, behind = behind or theme["ground"], text
        return text, behind, "bold" if self.bold else "normal"


def runs(lines, theme):
    """(row, column, text, paint) of every piece of a line that looks alike."""
    style = Style()
    for row, line in enumerate(lines):
        column, last = 0, 0
        for escape in [*ESCAPE.finditer(line), None]:
            piece = line[last:escape.start() if escape else len(line)]
            if piece:
                yield row, column, piece, style.paint(theme)
            column += len(piece)
            if escape:
                last = escape.end()
                if escape[2] == "m":
                    style.change(escape[1])


def plain(line):
    return ESCAPE.sub("", line)


def draw(lines, columns, theme, out):
    width, height = columns * CELL[0] + 2 * MARGIN, len(lines) * CELL[1] + 2 * MARGIN
    figure = pyplot.figure(figsize=(width, height), facecolor=theme["ground"])
    for row, column, text, (colour, behind, weight) in runs(lines, theme):
        x, top = MARGIN + column * CELL[0], height - MARGIN - row * CELL[1]
        if behind:
            figure.add_artist(pyplot.Rectangle((x / width, (top - CELL[1]) / height),
                                               len(text) * CELL[0] / width, CELL[1] / height,
                                               color=behind, transform=figure.transFigure))
        figure.text(x / width, (top - CELL[1] / 2) / height, text, color=colour, weight=weight,
                    family="DejaVu Sans Mono", fontsize=POINTS, va="center_baseline",
                    parse_math=False)
    figure.savefig(out, dpi=144)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path, help=".png, .svg or .pdf to write")
    parser.add_argument("--columns", type=int, help="of the terminal [the longest line's]")
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    lines = sys.stdin.read().rstrip("\n").split("\n")
    while lines and not plain(lines[-1]).strip():
        lines.pop()
    if not lines:
        print("terminal_picture.py: nothing to draw came", file=sys.stderr)
        return 1
    columns = options.columns or max(len(plain(line)) for line in lines)
    draw(lines, columns, DARK if options.dark else LIGHT, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
