"""All items: importing a paper's file adds its items."""
from . import (collections_study, disk_graphs, disk_layouts, disk_pools,  # noqa: F401
               paged_hnsw, paged_hnsw_changes, second_tier_clusters, second_tier_devices,
               second_tier_graphs)
from . import StudyError
from .items import REGISTRY
from .papers import load


def chosen(only):
    """The items that words like 004-F8, F8 or 004 name, in the order of papers.json; all without."""
    for word in only:
        if not any(fits(word, name) for name in REGISTRY):
            raise StudyError(f"no item '{word}': --list names them all")
    return [item for name, item in ordered().items()
            if not only or any(fits(word, name) for word in only)]


def ordered():
    """The registry in the order of docs/study/papers.json."""
    names = [f"{paper}-{figure}" for paper, entry in load().items() for figure in entry.figures]
    return {name: REGISTRY[name] for name in names if name in REGISTRY}


def fits(word, name):
    return word == name or word in name.split("-")
