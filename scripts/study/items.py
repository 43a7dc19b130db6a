"""What an item of the study is, and what the items of all papers share."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

from .verdict import TOLERANCE, Claim, Unseen  # noqa: E402

pyplot.rcParams.update({"axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7,
                        "ytick.labelsize": 7, "legend.fontsize": 6, "legend.frameon": False,
                        "axes.grid": True, "axes.grid.which": "both", "grid.linewidth": 0.4,
                        "grid.alpha": 0.4})
REGISTRY = {}


def item(kind):
    """Adds a class of items to the registry, under its name: PAPER-FIGURE."""
    REGISTRY[kind.name] = kind()
    return kind


class Item:
    """A figure or table of a paper, measured here.

    measure(lab) gives rows (dictionaries); the other methods make of them what is in the page.
    Their `numbers` are the paper's numbers of this item by name.
    """
    name = ""      # like 004-F8
    title = ""
    how = ""       # what was measured, in a sentence or two, for the page
    why = "nothing was measured"  # of a run without rows: why its numbers cannot be seen
    fitted = ()    # names of the paper's numbers that the models measured here were fitted to
    measured_on = ""  # the data, where it is not the sets of the run
    seconds = 30   # about how long it takes with --quick, for the time that is left

    @property
    def paper(self):
        return self.name.split("-")[0]

    def measure(self, lab):
        raise NotImplementedError

    def ours(self, rows):
        """{name of a paper's number: ours, (least, most) of ours, or Unseen}"""
        return {}

    def tolerances(self):
        """{name: tolerance} of the numbers that have another one than the rule's."""
        return {}

    def table(self, rows):
        """(header, lines) of what was measured."""
        raise NotImplementedError

    def draw(self, rows, path):
        """Draws the figure; False when there is nothing to draw."""
        return False

    def claims(self, rows, numbers):
        if not rows:
            return [Claim(number, Unseen(self.why)) for number in numbers.values()]
        ours = self.ours(rows)
        unknown = set(ours) - set(numbers)
        assert not unknown, f"{self.name}: docs/study/papers.json has no {sorted(unknown)}"
        tolerances = self.tolerances()
        return [Claim(number, ours.get(name, Unseen("not measured here")),
                      tolerances.get(name, TOLERANCE), name in self.fitted)
                for name, number in numbers.items()]


def panels(lines, columns, size=(2.7, 2.3), **options):
    """(figure, grid of axes) of so many panels, `size` inches each."""
    options = {"squeeze": False, "layout": "constrained", **options}
    figure, grid = pyplot.subplots(lines, columns, figsize=(size[0] * columns + 0.6,
                                                           size[1] * lines + 0.5), **options)
    return figure, grid


def save(figure, path, legend_of=None):
    """Writes the figure; the legend of these axes goes below all panels."""
    if legend_of is not None:
        handles, labels = legend_of.get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), fontsize=7,
                      frameon=False, ncol=min(4, max(1, len(labels))))
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    pyplot.close(figure)
    return True


def select(rows, **wanted):
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def distinct(rows, name):
    return list(dict.fromkeys(row[name] for row in rows))


def one(rows, **wanted):
    (row,) = select(rows, **wanted)
    return row
