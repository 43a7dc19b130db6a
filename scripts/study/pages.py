"""docs/study/: a page per paper, a section per item, and the table of all in README.md.

Sections stand between markers, so that a run of some items leaves those of the others as they are.
"""
import re

from .registry import ordered
from .verdict import AGREE, DIFFER, FITTED, NOISE, TOLERANCE, UNSEEN, aside, sentence

MARK = re.compile(r"<!-- item (\S+) -->\n(.*?)<!-- end of \1 -->\n", re.DOTALL)
MEANING = {AGREE: "yes", DIFFER: "**no**", FITTED: "by construction", NOISE: "not shown",
           UNSEEN: "not seen"}


def markdown_table(header, lines):
    rows = [header, ["---"] * len(header), *lines]
    return "".join("| " + " | ".join(map(str, row)) + " |\n" for row in rows)


def section(item, figure, claims, more):
    """Markdown of one item. `more`: measured table, figure's file or None, and where it was measured."""
    parts = [f"## {figure.label}: {item.title}\n", f"**{sentence(claims)}**\n"]
    if more["picture"]:
        parts.append(f"![{figure.label} measured here: {item.title}]({more['picture']})\n")
    if claims:
        lines = [[claim.number.what, paper_text(claim), claim.number.section,
                  claim.ours_text() + aside(claim.number.here), MEANING[claim.status()]]
                 for claim in claims]
        parts.append(markdown_table(["what", "paper", "where it says so", "here",
                                     "agrees"], lines))
    if figure.missing:
        parts.append(figure.missing + "\n")
    if item.how and more["table"][1]:
        parts.append(item.how + "\n")
    header, lines = more["table"]
    if lines:
        parts.append("<details><summary>What was measured</summary>\n\n"
                     + markdown_table(header, lines) + "\n</details>\n")
    parts.append(f"*{more['where']}*\n")
    return "\n".join(parts)


def paper_text(claim):
    """The paper's number, and an exception from the rule beside it."""
    exact = " (taken exactly)" if claim.tolerance != TOLERANCE else ""
    return claim.number.text() + aside(claim.number.there) + exact


def read_sections(path):
    return dict(MARK.findall(path.read_text())) if path.exists() else {}


def write_page(folder, name, paper, sections):
    """The page of a paper, with these sections in the place of those that it had."""
    path = folder / f"{name}.md"
    kept = {**read_sections(path), **sections}
    order = [item for item in ordered() if item.split("-")[0] == name and item in kept]
    text = [f"# {paper.short}\n", f"*{paper.title}*, beside what `scripts/study/run.sh` measures. "
            "The paper's figures are images: its numbers are those that its text and tables give "
            "([papers.json](papers.json)). A number agrees when the median of what was measured lies "
            "in the paper's range, widened by a tenth, but of a ratio never past 1. "
            "[All items, and the whole rule](README.md).\n"]
    text += [f"<!-- item {item} -->\n{kept[item]}<!-- end of {item} -->\n" for item in order]
    write(path, "\n".join(text))


def verdict_of(text):
    """The bold sentence of a section."""
    return re.search(r"\*\*(.*?)\*\*\n", text, re.DOTALL).group(1)


def write_summary(folder, papers):
    """README.md: every item's sentence."""
    lines = []
    for name, paper in papers.items():
        sections = read_sections(folder / f"{name}.md")
        for item in (item for item in ordered().values() if item.paper == name):
            label = paper.figures[item.name.split("-")[1]].label
            if item.name in sections:
                heading = re.search(r"^## (.*)$", sections[item.name], re.MULTILINE).group(1)
                lines.append([name, f"[{label}]({name}.md#{anchor(heading)})", item.title,
                              verdict_of(sections[item.name])])
            else:
                lines.append([name, label, item.title, "Not measured yet."])
    write(folder / "README.md", SUMMARY + markdown_table(
        ["paper", "item", "what", "beside the paper"], lines))


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def write(path, text):
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


SUMMARY = """# The papers' figures, redrawn

`scripts/study/run.sh` wrote these pages: 35 figures and tables of the papers that farvec comes from, measured with farvec's own programs, beside the numbers that the papers' text gives. [How to run it](../measure/measuring.md#the-papers-figures).

Not among them are Figures 3, 4 and 5 of 003, the other sets and index types of 001, Figure 1 of 002, Figures 4b, 4c, 8b to 8d, 9d and 11a to 11c of 000, and the rows of DEEP in Table 5 and the dips of Figure 6 of 004.

The sentences are made from the measured numbers by one rule. A number agrees when the median of what was measured (over sets, degrees and memories; smallest and largest in brackets) lies in the paper's range, widened by a tenth at each end. The range of a ratio is not widened past 1, so that what is faster in the paper is never slower here. A bound of 1 that ours clears by less than a tenth is *not shown*, since noise alone can reach it. So is a ratio of exactly 1 where ours scatter by more than a tenth on both sides. A number of a model that was fitted to the paper's agrees *by construction*, which is no evidence. The sets here are not the papers': where a number depends on the set or the system, the brackets name ours and theirs.

Tiers named *modelled* are models of a device ([020](../results/020-models-against-the-paper.md)), those named *real* are this machine's own. Each item says in its last line what it was measured on.

"""
