"""What is compared: tiers, layouts of graphs, ways to build clusters. One line adds one."""
import dataclasses

from graph_and_cluster import SLOTS, SLOTS_OF_TIERS

DRAM, RDMA, CXL, NVM, SSD = ("dram", "emulated:rdma", "emulated:cxl", "emulated:nvm",
                             "emulated:ssd")
FAR = (RDMA, CXL, NVM)
TIERS = (DRAM, *FAR, SSD)
WIDTH = 3
# Okabe and Ito's palette.
TIER_COLOURS = {DRAM: "#000000", RDMA: "#0072B2", CXL: "#009E73", NVM: "#D55E00", SSD: "#CC79A7",
                "ssd": "#E69F00"}


@dataclasses.dataclass(frozen=True)
class Series:
    """A way to build and lay out an index: a line of a figure."""
    name: str
    layout: str
    options: tuple = ()  # of `farvec build` beside the ones that every build has
    colour: str = "#0072B2"
    marker: str = "o"
    counted: bool = True  # its clusters are the set's number of them; else the options say how many

    @property
    def kind(self):
        """Of clusters, as graph_and_cluster.py chooses parameters for them."""
        return "cluster, coded" if self.layout == "coded" else "cluster"


# Beside `csr`: a layout added here is drawn where graphs' layouts are compared (Figure 8).
GRAPHS = (
    Series("CSR", "csr", colour="#0072B2", marker="o"),
    Series("padded", "padded", colour="#999999", marker="x"),
)
# Which of the second-tier study's sets a set is like: BIGANN, whose numbers are DEEP's too, or SPACEV.
KINDS = {"sift1m": "bigann", "text300k": "spacev"}
# The first one is what graphs are compared with (Figures 10, 12 and 13, Table 5).
CLUSTERS = (
    Series("grouped", "grouped", colour="#D55E00", marker="s"),
    Series("coupled", "coupled", colour="#009E73", marker="^"),
    Series("coded", "coded", colour="#CC79A7", marker="D"),
    # As SPANN has them: a sixth of the vectors are heads.
    Series("grouped, many heads", "grouped", ("--heads", "vectors", "--closure", "sptag", "--head-ratio",
                                              0.16), colour="#E69F00", marker="v", counted=False),
)


def kind_of(label):
    """Of a set, or a part of one; None: its numbers stand for none of the study's."""
    return KINDS.get(label.split("/")[0])


def tier_label(tier):
    """As legends and tables name it."""
    if tier.startswith("emulated:"):
        return tier.removeprefix("emulated:") + " (modelled)"
    return tier + " (real)"


def slots_of(kind, tier):
    """Searches in flight that hide the tier's latency."""
    return SLOTS_OF_TIERS.get(tier, SLOTS[kind.split(",")[0]])
