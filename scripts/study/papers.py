"""The papers' numbers, from docs/study/papers.json: what their text and tables say, and where."""
import dataclasses
import json
import math

from . import ROOT, StudyError

PATH = ROOT / "docs" / "study" / "papers.json"


@dataclasses.dataclass(frozen=True)
class Number:
    """A number of a paper: a value, or the ends of a range, of which one may be infinite."""
    name: str
    what: str
    here: str   # on what ours is measured, where that is another thing than the paper's
    there: str  # on what the paper's is
    low: float
    high: float
    unit: str
    section: str
    quote: str

    def text(self):
        low, high = (f"{value:,g}" for value in (self.low, self.high))
        number = low if low == high else f"{low} to {high}"
        if math.isinf(self.high):
            number = f"at least {low}"
        if math.isinf(self.low):
            number = f"at most {high}"
        space = "" if self.unit in ("", "%") else " "
        return number + space + self.unit


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure or table of a paper, with the numbers that the text gives of it."""
    label: str
    numbers: dict
    columns: dict  # {number: its column}, where the text has the figure as a table without separators
    table: dict    # its "columns" and the "row" that is taken, cell by cell
    missing: str


@dataclasses.dataclass(frozen=True)
class Paper:
    title: str
    short: str
    file: str
    figures: dict


def number_of(name, entry):
    value = entry["value"]
    low, high = value if isinstance(value, list) else (value, value)
    low, high = (-math.inf if low is None else low, math.inf if high is None else high)
    return Number(name, entry["what"], entry.get("here", ""), entry.get("there", ""), low, high, entry.get("unit", ""), entry["section"],
                  entry["quote"])


def figure_of(entry):
    numbers = {name: number_of(name, number) for name, number in entry["numbers"].items()}
    columns = {name: number["column"] for name, number in entry["numbers"].items()
               if "column" in number}
    return Figure(entry["label"], numbers, columns, entry.get("table", {}), entry.get("missing", ""))


def load(path=PATH):
    """{paper: Paper}. StudyError names the file when it is not as it should be."""
    try:
        raw = json.loads(path.read_text())
        return {paper: Paper(entry["title"], entry["short"], entry["file"],
                             {name: figure_of(figure)
                              for name, figure in entry["figures"].items()})
                for paper, entry in raw.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(f"{path}: no file of the papers' numbers: {error!r}") from error
