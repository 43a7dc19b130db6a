"""What was measured: a line of JSON for each measurement, so that a run goes on where it was ended."""
import hashlib
import json
import os
import platform


class Store:
    """Rows by what was asked, on which machine and of which commit.

    A measurement is appended in one write when it is complete; a line that was cut off is measured
    again. Of two lines with one key the later one holds.
    """

    def __init__(self, path, machine, commit):
        self.path, self.machine, self.commit = path, machine, commit
        self.rows = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._read()

    def _read(self):
        raw = self.path.read_bytes()
        whole = raw[:raw.rfind(b"\n") + 1]
        if len(whole) < len(raw):
            self.path.write_bytes(whole)
        for line in whole.splitlines():
            entry = json.loads(line)
            self.rows[entry["key"]] = entry["rows"]

    def key(self, what):
        """`what`: a dictionary that says all that the result depends on."""
        asked = {"what": what, "machine": self.machine, "commit": self.commit}
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]

    def get(self, what, measure):
        """The rows of `what`, from the file, or from measure() and then in the file."""
        key = self.key(what)
        if key not in self.rows:
            rows = measure()
            entry = {"key": key, "what": what, "machine": self.machine, "commit": self.commit,
                     "rows": rows}
            with self.path.open("ab") as out:
                out.write((json.dumps(entry) + "\n").encode())
            self.rows[key] = rows
        return self.rows[key]


def this_machine():
    """Processor, how many of them, and what chooses the vector instructions."""
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    isa = os.environ.get("FARVEC_ISA", "")
    return f"{model}, {os.cpu_count()} processors" + (f", FARVEC_ISA={isa}" if isa else "")
