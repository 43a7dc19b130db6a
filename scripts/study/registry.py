"""All items: importing a paper's file adds its items."""
from . import second_tier_clusters, second_tier_graphs  # noqa: F401
from . import StudyError
from .items import REGISTRY


def chosen(only):
    """The items that words like 004-F8, F8 or 004 name, in the order of the registry; all without."""
    if not only:
        return list(REGISTRY.values())
    for word in only:
        if not any(fits(word, name) for name in REGISTRY):
            raise StudyError(f"no item '{word}': --list names them all")
    return [item for name, item in REGISTRY.items() if any(fits(word, name) for word in only)]


def fits(word, name):
    return word == name or word in name.split("-")
