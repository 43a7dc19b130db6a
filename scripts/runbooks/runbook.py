"""Runbooks as the streaming track of big-ann-benchmarks has them: which rows go in and out, when.

A YAML file: under the data set's name `max_pts`, perhaps `gt_url`, and steps numbered from 1, each
with an `operation`; insert and delete name the rows from `start` up to before `end`.
"""
import dataclasses
import pathlib

import numpy as np
import yaml


@dataclasses.dataclass(frozen=True)
class Step:
    operation: str  # insert, delete or search
    start: int = 0
    end: int = 0  # not included

    def __str__(self):
        return f"{self.operation} {self.start}:{self.end}" if self.end else self.operation


class LiveRows:
    """Which rows are in, step by step; refuses steps that make no sense."""

    def __init__(self, rows):
        self.inside = np.zeros(rows, bool)
        self.count = self.most = 0

    def apply(self, number, step):
        """Answers the span of the rows that come or go, or None for a search."""
        if step.operation == "search":
            if self.count == 0:
                raise ValueError(f"step {number} searches before anything is inserted")
            return None
        span = slice(step.start, step.end)
        if not 0 <= step.start < step.end <= len(self.inside):
            raise ValueError(f"step {number} ({step}): the rows are from 0 to "
                             f"{len(self.inside) - 1}")
        entering = step.operation == "insert"
        wrong = np.flatnonzero(self.inside[span] == entering)
        if len(wrong):
            raise ValueError(f"step {number} ({step}): row {step.start + wrong[0]} is "
                             f"{'in already' if entering else 'not in'}")
        self.inside[span] = entering
        self.count += (step.end - step.start) * (1 if entering else -1)
        self.most = max(self.most, self.count)
        return span


def check(steps, rows):
    """Goes through all steps; answers the most rows that are in at once."""
    live = LiveRows(rows)
    for number, step in enumerate(steps, 1):
        live.apply(number, step)
    return live.most


def write(path, name, steps, rows):
    """The file has its name when it is complete. `rows` of the data set bound the steps."""
    book = {"max_pts": check(steps, rows)}
    for number, step in enumerate(steps, 1):
        book[number] = {"operation": step.operation}
        if step.operation != "search":
            book[number].update(start=step.start, end=step.end)
    path = pathlib.Path(path)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(yaml.safe_dump({name: book}, sort_keys=False))
    partial.rename(path)


def read_step(number, entry):
    if not isinstance(entry, dict) or entry.get("operation") not in ("insert", "delete", "search"):
        raise ValueError(f"step {number}: no operation insert, delete or search")
    if entry["operation"] == "search":
        return Step("search")
    for key in ("start", "end"):
        if type(entry.get(key)) is not int:
            raise ValueError(f"step {number}: {key} is not a whole number")
    return Step(entry["operation"], entry["start"], entry["end"])


def read(path, name=None):
    """(name, steps) of a data set in the file, which must be named when there are several."""
    try:
        content = yaml.safe_load(pathlib.Path(path).read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict) or not content:
        raise ValueError(f"{path} is no runbook: no data set in it")
    if name is None and len(content) > 1:
        raise ValueError(f"{path} has runbooks of {', '.join(map(str, content))}: name one")
    name = next(iter(content)) if name is None else name
    book = content.get(name)
    if not isinstance(book, dict):
        raise ValueError(f"{path} has no runbook of {name}")
    numbers = sorted(key for key in book if type(key) is int)
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"{path}: the steps of {name} are not numbered from 1 on")
    return name, [read_step(number, book[number]) for number in numbers]
