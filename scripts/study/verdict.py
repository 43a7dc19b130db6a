"""Whether what was measured agrees with a paper's number, by one rule for all items."""
import dataclasses
import statistics
import typing

TOLERANCE = 0.1
AGREE, DIFFER, UNSEEN = "agree", "differ", "unseen"


@dataclasses.dataclass(frozen=True)
class Unseen:
    """In place of a number: why it cannot be seen here."""
    why: str


@dataclasses.dataclass(frozen=True)
class Claim:
    """A paper's number beside ours.

    `ours` is a number, several of them (a tuple), or Unseen. It agrees when the median of ours lies
    in the paper's range, widened by `tolerance` of each end.
    """
    number: typing.Any
    ours: typing.Any
    tolerance: float = TOLERANCE

    def values(self):
        return self.ours if isinstance(self.ours, tuple) else (self.ours,)

    def median(self):
        return statistics.median(self.values())

    def status(self):
        if isinstance(self.ours, Unseen):
            return UNSEEN
        low = self.number.low - self.tolerance * abs(self.number.low)
        high = self.number.high + self.tolerance * abs(self.number.high)
        return AGREE if low <= self.median() <= high else DIFFER

    def ours_text(self):
        if isinstance(self.ours, Unseen):
            return "–"
        low, middle, high = (short(value) for value in (min(self.values()), self.median(),
                                                        max(self.values())))
        return middle if low == high else f"{middle} ({low} to {high})"

    def same_direction(self):
        """Of a ratio that differs: whether it is on the paper's side of 1."""
        middle = self.median()
        return (middle > 1 and self.number.low >= 1) or (middle < 1 and self.number.high <= 1)

    def phrase(self):
        """What the sentence says of it, when it was seen."""
        status = self.status()
        phrase = f"{self.number.what} is {self.ours_text()} where the paper has {self.number.text()}"
        if status == DIFFER and self.number.unit == "times":
            phrase += " (same direction)" if self.same_direction() else " (other direction)"
        return phrase


def short(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def all_of(values):
    """For a claim about several; Unseen when there is none."""
    return tuple(values) or Unseen("nothing was measured for it")


def word(claims):
    """Agree, Agree in part, Differ, or Cannot be seen here."""
    seen = {claim.status() for claim in claims} - {UNSEEN}
    return {frozenset(): "Cannot be seen here", frozenset([AGREE]): "Agree",
            frozenset([DIFFER]): "Differ"}.get(frozenset(seen), "Agree in part")


def unseen(claims):
    """A phrase for each reason, with all that it is the reason of."""
    by_reason = {}
    for claim in claims:
        by_reason.setdefault(claim.ours.why, []).append(claim.number.what)
    return [f"{', '.join(names)} ({why})" for why, names in by_reason.items()]


def sentence(claims):
    """One sentence from the measured numbers."""
    parts = []
    for status, opening in ((AGREE, "what agrees is that "), (DIFFER, "what differs is that "),
                            (UNSEEN, "what cannot be seen here: ")):
        mine = [claim for claim in claims if claim.status() == status]
        phrases = unseen(mine) if status == UNSEEN else [claim.phrase() for claim in mine]
        if phrases:
            parts.append((opening, ", ".join(phrases)))
    if not parts:
        return f"{word(claims)}: the text gives no number of it."
    if len(parts) == 1:
        return f"{word(claims)}: {parts[0][1]}."
    return f"{word(claims)}: " + "; ".join(opening + phrases for opening, phrases in parts) + "."
