"""`farvec advise`: counts of the whole index from a sample, one true JSON object, refusals."""
import json
import shlex
import signal
import subprocess
import time
import unittest

import numpy as np

from farvec_tool import BIN, DEEP20K, TIMEOUT_S, ToolTest, farvec, needs_data, write_vectors

RECALL = 0.95
# A graph and a cluster index, where more would say the same.
ONE_OF_EACH = ("--degree", 8, "--graph-layout", "csr", "--replicas", 4, "--layout", "grouped")
QUICK = {"--recall": RECALL, "--degree": "8,16", "--cluster-rows": 40, "--replicas": "1,4"}


class Advise(ToolTest):
    def clustered(self, count, dimension=16):
        """Rows around a few hundred centres, so that clusters mean something."""
        centres = self.random.standard_normal((300, dimension)) * 3
        picks = self.random.integers(0, len(centres), count)
        return (centres[picks] + self.random.standard_normal((count, dimension))).astype(np.float32)

    def files(self, rows=6000, queries=200):
        both = self.clustered(rows + queries)
        return (write_vectors(self.folder / "base", both[:rows]),
                write_vectors(self.folder / "query", both[rows:]))

    def advise(self, data, queries, *options, device="rdma"):
        """With what makes it quick, unless the options say otherwise."""
        given = {str(option).split("=")[0] for option in options}
        if ("--cluster-rows", "none") in zip(options, options[1:]):
            given.add("--replicas")  # refused without clusters
        quick = [word for name, value in QUICK.items() if name not in given for word in (name, value)]
        return farvec("advise", "--data", data, "--queries", queries, "--device", device, *quick,
                      "--scratch", self.folder, "--quiet", *options)

    def advice(self, *arguments, **options):
        out = self.folder / "advice.json"
        result = self.must_pass(self.advise(*arguments, "--json", out, **options))
        self.assertEqual(list(self.folder.glob("farvec-advise-*")), [])
        return json.loads(out.read_text()), result.stdout

    def test_says_what_to_take(self):
        advice, text = self.advice(*self.files(), "--degree", 8)
        self.assertEqual(len(advice["settings"]), 4 + 2 * 5)
        self.assertEqual({setting["layout"] for setting in advice["settings"]},
                         {"csr", "packed", "padded", "inline", "coupled", "decoupled", "grouped",
                          "grouped-inline", "coded"})
        self.assertEqual(advice["device_kind"], "model")
        self.assertGreater(advice["core_share"], 0)
        self.assertLessEqual(advice["core_share"], 1)
        self.assertEqual(advice["sample_rows"], [1500, 6000])
        rates = [setting.get("qps", 0) for setting in advice["settings"]]
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertIn(advice["choice"], advice["settings"])
        self.assertIn("take: " + advice["choice"]["index"], text)
        for setting in advice["settings"]:
            self.assertIn(setting["index"], text)
            if setting["reached"]:
                self.assertIn(setting["bound"], ("computation", "bandwidth", "request rate"))
                self.assertLessEqual(setting["qps"], 1.0001 * min(
                    setting[f"{bound}_qps"] for bound in ("computation", "bandwidth",
                                                          "request_rate", "device")))

    def test_says_what_binds_on_each_device(self):
        """Also one that a file describes."""
        lab = self.folder / "lab.device"
        lab.write_text("latency=350ns   # measured\nbandwidth=28GB/s\nrate=400M/s\n")
        out = self.folder / "advice.jsonl"
        self.must_pass(self.advise(
            *self.files(), "--degree", "none", "--replicas", 4, "--layout", "coupled", "--json", out,
            "--device", "latency=2us,bandwidth=100GB/s,rate=1K/s", "--device", lab,
            device="latency=2us,bandwidth=1MB/s,rate=100M/s"))
        narrow, slow, described = (json.loads(line) for line in out.read_text().splitlines())
        self.assertEqual(narrow["choice"]["bound"], "bandwidth")
        self.assertEqual(slow["choice"]["bound"], "request rate")
        self.assertEqual(described["device"], "lab: 0.35 us, 28 GB/s, 400 M reads/s, 64 B blocks")

    def test_measures_a_disk_beside_its_model(self):
        """Slotted pages are for disks; a measured disk is told from a model, and leaves nothing."""
        data, queries = self.files()
        disk = self.folder / "disk"
        disk.mkdir()
        out = self.folder / "advice.jsonl"
        result = self.must_pass(self.advise(
            data, queries, "--device", f"ssd:{disk}", "--device", "ssd", "--bytes", 8 << 20,
            "--disk-seconds", 1, "--degree", 16, "--graph-layout", "csr,slotted", "--cluster-rows",
            40, "--replicas", 4, "--layout", "coupled", "--memory-budget", "1%,100%", "--json", out))
        rdma, measured, model = (json.loads(line) for line in out.read_text().splitlines())
        self.assertEqual(list(disk.iterdir()), [])
        self.assertEqual([advice["device_kind"] for advice in (rdma, measured, model)],
                         ["model", "measured", "model"])
        self.assertIn(f"1 core on ssd:{disk}: ", result.stdout)
        self.assertEqual(result.stdout.count("(measured here)"), 1)
        self.assertEqual(result.stdout.count("(a model)"), 2)
        self.assertEqual({setting["layout"] for setting in rdma["settings"]},
                         {"csr", "coupled"})
        for advice in (measured, model):
            slotted = {setting["memory_percent"]: setting for setting in advice["settings"]
                       if setting["layout"] == "slotted"}
            self.assertEqual(set(slotted), {1, 100})
            self.assertFalse(slotted[1]["fits_memory"])
            self.assertFalse(slotted[1]["reached"])
            self.assertTrue(slotted[100]["reached"])
            self.assertIn("--memory-budget 100%", slotted[100]["search"])
            self.assertEqual(len(advice["settings"]), 4)
        reads = measured["disk_reads"]
        for together in (1, 16, 64):
            rates = [read["reads_per_s"] for read in reads if read["together"] == together]
            self.assertEqual(len(rates), 4)
            self.assertEqual(rates, sorted(rates, reverse=True))
        for read in reads:
            self.assertLessEqual(read["reads_per_s_min"], read["reads_per_s_max"])
        for setting in measured["settings"]:
            if setting["reached"]:
                self.assertGreater(setting["kernel_ns_per_query"], 0)
                self.assertLessEqual(setting["device_qps"],
                                     1.0001 * max(read["reads_per_s"] for read in reads)
                                     / setting["reads_per_query"])
                self.assertLessEqual(setting["qps_min"], setting["qps"])
                self.assertLessEqual(setting["qps"], setting["qps_max"])
                self.assertEqual(setting["copy_ns_per_query"] > 0, setting["layout"] != "slotted")
        self.assertIn("QPS min..max", result.stdout)
        self.assertIn("as the disk varied", result.stdout)
        for setting in model["settings"]:
            self.assertEqual(setting.get("qps_min"), setting.get("qps_max"))

    def test_refuses_what_is_no_disk(self):
        data, queries = self.files()
        device = self.folder / "regular"
        device.write_bytes(b"")
        for path, words in [
                (self.folder / "none", (str(self.folder / "none"), "No such file")),
                (data / "below", (str(data / "below"), "Not a directory")),
                ("/sys", ("/sys",)),  # nobody may make a file there
                ("", ("ssd:", "folder"))]:
            with self.subTest(path):
                self.must_refuse(self.advise(data, queries, "--bytes", 1 << 20,
                                             device=f"ssd:{path}"), *words)
        self.must_refuse(self.advise(data, queries, device=f"ssd:{device}"), "region of 0")
        self.must_refuse(self.advise(data, queries, device="ssd:/dev/null"), "block device")
        self.must_refuse(self.advise(data, queries, "--bytes", 1 << 55,
                                     device=f"ssd:{self.folder}"), "are free", "--bytes")
        self.must_refuse(self.advise(data, queries, "--graph-layout", "slotted", "--cluster-rows",
                                     "none"), "slotted pages are for disks")
        for budget in ("0%", "101%", "20", "x%", "10%,"):
            self.must_refuse(self.advise(data, queries, "--memory-budget", budget, device="ssd"),
                             "--memory-budget")
        self.must_refuse(self.advise(data, queries, "--memory-budget", "20%"), "--memory-budget",
                         "disks")
        self.must_refuse(self.advise(data, queries, "--bytes", "1MB", device="ssd"), "--bytes",
                         "ssd:FOLDER")
        self.must_refuse(self.advise(data, queries, "--disk-seconds", 1, device="ssd"),
                         "--disk-seconds", "ssd:PATH")
        self.must_refuse(self.advise(data, queries, "--disk-seconds", 0,
                                     device=f"ssd:{self.folder}"), "--disk-seconds")

    def test_keeps_the_limits_and_several_devices_share_the_small_indexes(self):
        data, queries = self.files()
        out = self.folder / "advice.jsonl"
        self.must_pass(self.advise(data, queries, *ONE_OF_EACH, "--device", "cxl", "--max-dram", 15,
                                   "--json", out))
        both = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual([advice["device"].split(":")[0] for advice in both], ["rdma", "cxl"])
        for advice in both:
            self.assertEqual(advice["choice"]["index_kind"], "cluster")
            self.assertLessEqual(advice["choice"]["compute_dram_bytes_per_vector"], 15)
        alone, _ = self.advice(data, queries, *ONE_OF_EACH, device="cxl")
        def counts(advice):
            return {setting["index"]: {name: value for name, value in setting.items()
                                       if name.endswith("_per_query") and "ns" not in name}
                    for setting in advice["settings"]}
        self.assertEqual(counts(both[1]), counts(alone))
        # Searches by reads have lanes, of 8 MiB for clusters; searches by loads have none.
        for advice, least in zip(both, (8 << 20, 0)):
            for setting in advice["settings"]:
                if setting["index_kind"] == "cluster":
                    self.assertGreaterEqual(setting["search_dram_bytes"], setting["slots"] * least)
                self.assertAlmostEqual(
                    setting["compute_dram_bytes"], setting["search_dram_bytes"]
                    + setting["compute_dram_bytes_per_vector"] * advice["rows"], delta=1)
                if least == 0:
                    self.assertEqual(setting["search_dram_bytes"], 0)

    def test_samples_of_three_sizes(self):
        files = self.files(rows=17000)
        one = ("--degree", 8, "--graph-layout", "csr", "--cluster-rows", "none", "--sample", 16000)
        advice, _ = self.advice(*files, *one)
        self.assertEqual(advice["sample_rows"], [1000, 4000, 16000])
        samples = advice["settings"][0]["samples"]
        self.assertEqual([sample["rows"] for sample in samples], [1000, 4000, 16000])
        self.assertLess(samples[0]["reads_per_query"], samples[2]["reads_per_query"])
        cut, _ = self.advice(*files, *one, "--most-minutes", 1e-9)
        self.assertEqual(cut["sample_rows"], [1000, 2000, 4000])

    def test_leaves_nothing_behind_when_it_is_ended(self):
        data, queries = self.files(rows=20000)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = subprocess.Popen(
                    [BIN / "farvec", "advise", "--data", data, "--queries", queries, "--device",
                     "rdma", "--scratch", self.folder, "--quiet", "--json",
                     self.folder / "advice.json"], stderr=subprocess.PIPE)
                with process:
                    end = time.monotonic() + TIMEOUT_S
                    while not list(self.folder.glob("farvec-advise-*/*")):
                        self.assertIsNone(process.poll())
                        self.assertLess(time.monotonic(), end)
                        time.sleep(0.01)
                    process.send_signal(number)
                    process.wait(timeout=TIMEOUT_S)
                self.assertEqual(process.returncode, -number)
                self.assertEqual(list(self.folder.glob("farvec-advise-*")), [])
                self.assertFalse((self.folder / "advice.json").exists())

    def test_refuses(self):
        data, queries = self.files()
        few = write_vectors(self.folder / "few", self.clustered(99))
        other = write_vectors(self.folder / "other", self.clustered(200, dimension=8))
        small = write_vectors(self.folder / "small", self.clustered(900))
        self.must_refuse(self.advise(data, few), "99 queries", "100 are needed")
        self.must_refuse(self.advise(data, queries, "--queries-range", "0:50"), "50 queries")
        self.must_refuse(self.advise(small, queries), "too few", "4000 are needed")
        self.must_refuse(self.advise(data, queries, "--sample", 100), "too few")
        self.must_refuse(self.advise(data, queries, device="floppy"), "floppy", "rdma, cxl, nvm, ssd")
        self.must_refuse(self.advise(data, other), "dimension")
        for recall in ("0", "1", "1.5", "-1"):
            self.must_refuse(self.advise(data, queries, f"--recall={recall}"), "--recall",
                             "out of range")
        self.must_refuse(self.advise(data, queries, "--recall=nan"), "--recall", "nan is no number")
        self.must_refuse(self.advise(data, queries, "--layout", "loose"), "loose")
        self.must_refuse(self.advise(data, queries, "--degree", 8, "--cluster-rows", "none",
                                     "--max-amplification", 0.5), "limits")
        self.must_refuse(self.advise(data, queries, "--json", self.folder / "none" / "x.json"),
                         "x.json")

    @needs_data(DEEP20K)
    def test_counts_of_deep20k(self):
        """A sample of 10,000 says what the whole 20,000 will count."""
        data, queries = DEEP20K / "base.fbin", DEEP20K / "query.fbin"
        advice, _ = self.advice(data, queries, "--degree", 16, "--replicas", 4, "--layout",
                                "grouped", "--sample", 10000, "--graph-layout", "csr")
        self.assertEqual(advice["rows"], 20000)
        for setting in advice["settings"]:
            index = self.folder / setting["index_kind"]
            self.must_pass(farvec(*shlex.split(setting["build"])[1:], "--quiet", "--out", index))
            name = "list" if "list" in setting else "probe"
            number = (f"--{name}", setting[name], *shlex.split(setting["search"]))
            out = self.folder / "sweep.jsonl"
            self.must_pass(farvec("sweep", "--index", index, "--queries", queries, "--groundtruth",
                                  DEEP20K / "gt100.ibin", *number, "--tier", "emulated:rdma",
                                  "--passes", 1, "--pass-ms", 1, "--json", out, "--overwrite"))
            row = json.loads(out.read_text())
            self.assertGreater(row["recall"], RECALL - 0.02, setting["index"])
            for count in ("reads", "bytes", "distances"):
                name = f"{count}_per_query"
                self.assertLess(abs(row[name] / setting[name] - 1), 0.2, f"{setting['index']} {name}")
            self.assertLess(abs(row["amplification"] / setting["amplification"] - 1), 0.03)


if __name__ == "__main__":
    unittest.main()
