"""Redraws the figures of the papers that farvec comes from: scripts/study/run.sh runs it."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What measures for docs/results/ measures here too.
sys.path.insert(0, str(ROOT / "scripts" / "bench"))


class StudyError(Exception):
    """What the user can mend; its text says how."""
