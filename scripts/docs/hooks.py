"""What mkdocs does not do by itself: README, CONTRIBUTING and CHANGES are pages too, links into the
sources lead to copies of them, what the Python package has is a page, and every decision and result
is in the navigation."""
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "docs"))
from api_page import api_page  # noqa: E402  (it lies beside this file, which mkdocs loads alone)

STUBS = ROOT / "build" / "release" / "python" / "farvec" / "_farvec.pyi"
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md",
         "CHANGES.md": "changes.md"}
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def repository_path(page):
    """Of a page of the site."""
    names = {name: path for path, name in PAGES.items()}
    return names.get(page, f"docs/{page}")


def page_path(path):
    """Where a file or folder of the repository is on the site."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        folder = (ROOT / path).is_dir()
        return path.removeprefix("docs/") + ("/README.md" if folder else "")
    # As text: a page of its own would have links of its own.
    return f"source/{path}" + (".txt" if path.endswith(".md") or (ROOT / path).is_dir() else "")


def outside_code(text, change):
    """`change` of all that stands between fences."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end:fence.start()]), fence.group()]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def targets(path):
    """The files of the repository that a page links to."""
    found = set()

    def collect(text):
        for match in LINK.finditer(text):
            found.add(posixpath.normpath(posixpath.join(posixpath.dirname(path), match.group(2))))
        return text
    outside_code((ROOT / path).read_text(), collect)
    return {target for target in found if (ROOT / target).exists()}


def on_config(config):
    for entry in config["nav"]:
        for title, value in entry.items():
            if isinstance(value, str) and value.endswith("/"):
                folder = pathlib.Path(config["docs_dir"]) / value
                names = sorted(path.name for path in folder.glob("*.md"))
                names.sort(key=lambda name: name != "README.md")
                entry[title] = [value + name for name in names]
    return config


def on_files(files, config):
    known = [repository_path(file.src_uri) for file in files if file.src_uri.endswith(".md")]
    files.append(File.generated(config, "python-api.md", content=api_page(STUBS)))
    for path, name in PAGES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    for path in sorted({target for page in [*known, *PAGES] for target in targets(page)}):
        if files.get_file_from_path(page_path(path)) is not None:
            continue
        place = ROOT / path
        names = "\n".join(sorted(child.name for child in place.iterdir())) if place.is_dir() else ""
        text = {"content": f"{path}/\n\n{names}\n"} if names else {"abs_src_path": str(place)}
        files.append(File.generated(config, page_path(path), **text))
    return files


def on_page_markdown(markdown, page, config, files):
    path = repository_path(page.file.src_uri)
    here = posixpath.dirname(page.file.src_uri) or "."

    def change(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match.group(2)))
        return match.group(1) + posixpath.relpath(page_path(target), here) + match.group(3)

    return outside_code(markdown, lambda text: LINK.sub(change, text))
