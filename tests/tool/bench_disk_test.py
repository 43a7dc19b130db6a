"""`farvec bench disk`: true JSON lines beside fio's, files that do not stay, and refusals."""
import json
import pathlib
import resource
import shutil
import signal
import subprocess
import unittest

from farvec_tool import BIN, TIMEOUT_S, BenchTest, farvec

FIELDS = {"engine", "model", "path", "file_bytes", "direct", "block_bytes", "payload", "depth",
          "mix", "threads", "reads_per_s", "reads_per_s_min", "reads_per_s_max", "gb_per_s",
          "mean_us", "p50_us", "p99_us", "passes", "pass_ms", "seed", "commit", "host"}
QUICK = {"--bytes": 1 << 20, "--passes": 2, "--seconds": 0.01, "--fio": "off"}


def bench(path, *options, **process_options):
    """With what makes it quick, unless the options say otherwise; a file has its size."""
    given = {*options, *(() if pathlib.Path(path).is_dir() else ("--bytes",))}
    quick = [word for name, value in QUICK.items() if name not in given for word in (name, value)]
    return farvec("bench", "disk", "--path", path, *quick, *options, **process_options)


class BenchDisk(BenchTest):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()

    def make_file(self, size):
        path = self.folder / "blocks"
        path.write_bytes(self.random.bytes(size))
        return path

    def lines(self, path, *options):
        rows = self.bench_lines(bench, path, *options)
        for row in rows:
            self.assertLessEqual(FIELDS, row.keys())
        return rows

    def refused(self, result, *words):
        self.must_refuse(result, *words)
        self.assertEqual(list(self.disk.iterdir()), [])

    def test_every_combination_has_its_line(self):
        rows = self.lines(self.disk, "--payload", "128,512,4096,5000", "--depth", "1,32",
                          "--mix", "0%,50%", "--threads", "1,2")
        self.assertEqual({(r["payload"], r["depth"], r["mix"], r["threads"]) for r in rows},
                         {(payload, depth, mix, threads) for payload in (128, 512, 4096, 5000)
                          for depth in (1, 32) for mix in (0, 0.5) for threads in (1, 2)})
        self.assertEqual({(r["engine"], r["file_bytes"], r["path"]) for r in rows},
                         {("farvec", 1 << 20, str(self.disk))})
        self.assertEqual(list(self.disk.iterdir()), [])

    def test_a_file_is_left_as_it_is(self):
        path = self.make_file(100_001)
        before = path.read_bytes()
        row, = self.lines(path, "--payload", 4096, "--depth", 4)
        self.assertEqual(row["file_bytes"], 100_001)
        self.assertEqual(path.read_bytes(), before)

    def test_a_file_of_one_byte(self):
        row, = self.lines(self.make_file(1), "--payload", 1, "--depth", 2)
        self.assertEqual(row["file_bytes"], 1)

    def test_beside_fio(self):
        if shutil.which("fio") is None:
            self.skipTest("fio is not installed")
        rows = self.lines(self.disk, "--fio", "on", "--payload", 4096, "--depth", "1,8",
                          "--mix", "0%,50%", "--seconds", 0.1, "--threads", 2)
        self.assertEqual([row["engine"] for row in rows], ["farvec", "fio"] * 4)
        for ours, theirs in zip(rows[::2], rows[1::2]):
            self.assertLessEqual(ours["of_fio_min"], ours["of_fio"])
            self.assertLessEqual(ours["of_fio"], ours["of_fio_max"])
            self.assertIn("fio-", theirs["model"])

    def test_fio_that_is_not_there(self):
        self.refused(bench(self.disk, "--fio", "on", env={"PATH": "/nonexistent"}), "fio")
        self.must_pass(bench(self.disk, "--fio", "auto", "--payload", 512, "--depth", 1,
                             env={"PATH": "/nonexistent"}))

    def test_a_file_system_in_memory_is_named(self):
        shared = pathlib.Path("/dev/shm")
        if not shared.is_dir():
            self.skipTest("no /dev/shm")
        out = self.folder / "shm.json"
        result = bench(shared, "--payload", 4096, "--depth", 1, "--json", out)
        self.must_pass(result)
        row, = (json.loads(line) for line in out.read_text().splitlines())
        if row["direct"]:
            self.skipTest("/dev/shm is no tmpfs")
        self.assertEqual(result.stderr.count("page cache"), 1, result.stderr)

    def test_bad_paths(self):
        self.refused(bench("/nonexistent/disk"), "/nonexistent/disk")
        self.refused(bench("/dev/null"), "/dev/null", "block device")
        self.refused(bench(self.make_file(0)), "region of 0")
        self.refused(bench(self.make_file(100), "--payload", 4096), "4096", "100")

    def test_bad_input(self):
        for options, words in [
                (("--payload", 0), ("--payload", "0")),
                (("--payload", "512,x"), ("--payload", "'x'")),
                (("--payload", 2 << 30), ("2147483648",)),
                (("--payload", 1 << 20, "--depth", 2048, "--bytes", 4 << 20), ("2147483648",)),
                (("--depth", 0), ("--depth",)),
                (("--depth", 5000), ("5000", "4096")),
                (("--mix", 1.5), ("--mix", "1.5", "0% to 100%")),
                (("--mix", "half"), ("--mix", "'half'")),
                (("--threads", 0), ("--threads",)),
                (("--passes", 0), ("--passes",)),
                (("--seconds", 0), ("--seconds",)),
                (("--bytes", 0), ("--bytes",)),
                (("--fio", "maybe"), ("--fio",)),
                (("--json", "/nonexistent/a.json"), ("/nonexistent/a.json",))]:
            with self.subTest(options):
                self.refused(bench(self.disk, *options), *words)
        self.refused(farvec("bench", "disk"), "--path")

    def test_a_disk_with_too_little_room(self):
        self.refused(bench(self.disk, "--bytes", 1 << 55), str(1 << 55), "--bytes")

    def test_says_what_it_writes_and_is_ended_without_a_trace(self):
        """Where, and how much by default, is said before the first byte is written."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                # Who runs the tests may ignore SIGINT, as a shell does for what is in its background.
                process = subprocess.Popen(
                    [BIN / "farvec", "bench", "disk", "--path", self.disk, "--fio", "off"],
                    stderr=subprocess.PIPE, text=True,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                with process:
                    line = process.stderr.readline()
                    process.send_signal(number)
                    process.wait(timeout=TIMEOUT_S)
                self.assertIn(f"1074 MB in '{self.disk}'", line)
                self.assertEqual(process.returncode, -number)
                self.assertEqual(list(self.disk.iterdir()), [])

    def test_a_disk_that_becomes_full(self):
        limit = 6 << 20
        self.refused(bench(self.disk, "--bytes", 16 << 20, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit))), "writing a test file", str(self.disk))


if __name__ == "__main__":
    unittest.main()
