"""Whether what was measured agrees with a paper's number, by one rule for all items."""
import dataclasses
import math
import statistics
import typing

TOLERANCE = 0.1
AGREE, DIFFER, UNSEEN = "agree", "differ", "unseen"
FITTED = "by construction"  # a model's number agrees with what the model was fitted to: no evidence
NOISE = "not shown"         # a bound, or an equality, that noise alone can reach


@dataclasses.dataclass(frozen=True)
class Unseen:
    """In place of a number: why it cannot be seen here."""
    why: str


@dataclasses.dataclass(frozen=True)
class Claim:
    """A paper's number beside ours.

    `ours` is a number, several of them (a tuple), or Unseen. It agrees when the median of ours lies
    in the paper's range, widened by `tolerance` of each end, but of a ratio never past 1: what is
    faster in the paper is not slower here. An open end at 1 or 0 has to be cleared by `tolerance`.
    """
    number: typing.Any
    ours: typing.Any
    tolerance: float = TOLERANCE
    fitted: bool = False  # ours is of a model that was fitted to this number

    def values(self):
        return self.ours if isinstance(self.ours, tuple) else (self.ours,)

    def median(self):
        return statistics.median(self.values())

    def status(self):
        if isinstance(self.ours, Unseen):
            return UNSEEN
        low, high = self.ends()
        if not low <= self.median() <= high:
            return DIFFER
        if self.noise_alone():
            return NOISE
        return FITTED if self.fitted else AGREE

    def ends(self):
        """The paper's range, widened."""
        low = self.number.low - self.tolerance * abs(self.number.low)
        high = self.number.high + self.tolerance * abs(self.number.high)
        if self.number.unit == "times" and self.number.low != self.number.high:
            if self.number.low >= 1:
                low = max(low, 1)
            if self.number.high <= 1:
                high = min(high, 1)
        return low, high

    def noise_alone(self):
        """Whether ours lies in the range, but within what noise makes of a measurement."""
        low, high = self.number.low, self.number.high
        if math.isinf(high) and low in (0, 1):
            return self.median() < low + self.tolerance
        if math.isinf(low) and high == 1:
            return self.median() > high - self.tolerance
        return (low == high == 1 and self.number.unit == "times"
                and min(self.values()) < 1 - self.tolerance and max(self.values()) > 1 + self.tolerance)

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
        number = self.number
        phrase = (f"{number.what} is {self.ours_text()}{aside(number.here)} where the paper has "
                  f"{number.text()}{aside(number.there)}")
        if status == DIFFER and self.number.unit == "times":
            phrase += " (same direction)" if self.same_direction() else " (other direction)"
        return phrase


def aside(words):
    return f" ({words})" if words else ""


def short(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def all_of(values):
    """For a claim about several; Unseen when there is none."""
    return tuple(values) or Unseen("nothing was measured for it")


def word(claims):
    """Agree (all of it), Agree in part, Differ, By construction, or Cannot be seen here."""
    found = {claim.status() for claim in claims}
    if AGREE in found:
        return "Agree" if found == {AGREE} else "Agree in part"
    if DIFFER in found:
        return "Differ"
    return "By construction" if FITTED in found else "Cannot be seen here"


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
                            (FITTED, "by construction, as the model was fitted to it, "),
                            (NOISE, "what noise alone could show is that "),
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
