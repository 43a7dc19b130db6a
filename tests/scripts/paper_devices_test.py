"""scripts/bench/paper_devices.py: what it says of rows whose answer is known."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bench"
sys.path.insert(0, str(BENCH))
import paper_devices  # noqa: E402


def row(device, payload, share):
    """Of a device with 10 GB/s and at most 1 M reads a second: 10,000 bytes have its bandwidth."""
    part = paper_devices.PART[device]
    mean_bytes = share * 128 + (1 - share) * payload
    ns = max(payload / 10, 1000) * (1 - share) + 1000 * share
    return {"tier": paper_devices.tier_of(device), "tier_model": device, "payload": payload,
            "mix": share, "device_bound_per_s": 1e9 / ns / part,
            "gb_per_s": 0.98 * mean_bytes / ns / part, "host": "here", "commit": "c", "passes": 1,
            "pass_ms": 1}


class PaperDevices(unittest.TestCase):
    def test_tables_of_known_devices(self):
        points = [(payload, 0) for payload in paper_devices.PAYLOADS]
        points += [(paper_devices.LARGE, share) for share in paper_devices.SHARES[1:]]
        rows = [row(device, *point) for device in paper_devices.PART for point in points]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.jsonl"
            path.write_text("\n".join(map(json.dumps, rows)) + "\n")
            shown = subprocess.run([sys.executable, BENCH / "paper_devices.py", "--show", path],
                                   check=True, capture_output=True, text=True).stdout
        self.assertIn("| 1024 | 1.02 (1.00) |", shown)
        self.assertIn("| 50% | 48.4 (48.4) |", shown)
        self.assertIn("| allowed | None | None | None | 8192 | 8192 |", shown)
        self.assertIn("| rdma, 50% small | 48.8 | 48.4 | yes |", shown)
        self.assertIn("| nvm, 90% small | 37.5 | 87.2 | **+133%** |", shown)
        self.assertIn("Measured differs from allowed by 2.0% at most.", shown)


if __name__ == "__main__":
    unittest.main()
