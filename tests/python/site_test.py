"""The pages of the documentation are a site in which every link leads somewhere."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_link_leads_somewhere(tmp_path):
    # With a theme that mkdocs brings; scripts/docs/site.sh makes the same pages in another one.
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--theme", "mkdocs",
         "--config-file", ROOT / "scripts" / "docs" / "mkdocs.yml", "--site-dir", tmp_path / "site"],
        text=True, capture_output=True, timeout=120, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "index.html").read_text()
    assert "far-memory.svg" in home and 'href="start/quickstart.html"' in home
    assert (tmp_path / "site" / "source" / "rpc" / "compute_node.proto").is_file()
