"""Other libraries on the study's sets, by bench/peers: each in a process of its own, on the same core."""
import json
import shutil
import sys

from . import ROOT, StudyError

DISKANN, LASER = "diskann-48", "laser"
INSTALL_AND_RUN_S = 4 * 3600


def measured(lab, data, recall, name, options=()):
    """Rows of a peer, and of what `options` name beside it: label, recall, qps, p99_us, build_s and bytes,
    or why there is none. The store keeps them, so that an environment is made once."""
    what = {"measure": "peers", "set": data.name, "rows": data.rows, "name": name,
            "recall": recall, "options": lab.words(options), "passes": lab.effort.passes}
    return lab.store.get(what, lambda: _measure(lab, data, recall, name, options))


def each(lab, data, recall):
    """A row for every library of the effort, one after the other: what was measured of one is not lost with
    the next, and one that cannot run here is named with the reason."""
    rows = []
    for name in lab.effort.peers:
        rows += or_why(data, name, lambda: measured(lab, data, recall, name))
    return rows


def or_why(data, name, measure):
    """The rows that were measured, or one with the reason why there are none."""
    try:
        return measure()
    except StudyError as error:
        reason = str(error).splitlines()[-1].strip()
        return [{"set": data.label, "label": name, "failure": reason}]


def _measure(lab, data, recall, name, options):
    out = lab.work / "peers"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    lab.run([sys.executable, "-B", ROOT / "bench" / "peers" / "run.py", "--data", data.base,
             "--queries", data.queries, "--groundtruth", data.truth, "--metric", "l2", "--peers", name,
             "--recalls", recall, "--passes", lab.effort.passes, "--core", lab.cpu, "--farvec",
             lab.farvec, *options, "--out", out / "rows"],
            f"bench/peers of {data.label}", INSTALL_AND_RUN_S)
    rows = json.loads((out / "rows.json").read_text())["rows"]
    if not rows:
        raise StudyError(f"bench/peers measured nothing of {name}")
    return [row_of(data, row) for row in rows]


def row_of(data, row):
    """What a line of a table needs; rows without a rate say why."""
    if row.get("qps") is None:
        why = row.get("failure") or f"recall {row['target']} is not reached"
        return {"set": data.label, "label": row["label"], "failure": why}
    return {"set": data.label, "label": row["label"], "recall": row["recall"], "qps": row["qps"],
            "p99_us": row["p99_us"], "build_s": row["build_seconds"],
            "bytes": row["bytes_per_vector"] * data.rows}
