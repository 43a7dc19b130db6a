"""`farvec report` and `farvec sweep --html`: pages of rows, as files and in a browser."""
import json
import pathlib
import re
import signal
import subprocess
import unittest

from browser import PROGRAM, Browser
from farvec_tool import BIN, ToolTest, farvec, rest_of, write_vectors

DATA = pathlib.Path(__file__).parents[1] / "scripts" / "data"
GRAPHS, CLUSTERS = DATA / "sweep.jsonl", DATA / "clusters.jsonl"
ROW = {"dataset": "set", "index": "a", "layout": "csr", "tier": "dram", "k": 10, "list": 20,
       "recall": 0.9, "qps": 100.0, "p50_us": 1.0, "p99_us": 2.0}


def rows_in(page):
    text = page.read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found.group(1))


class Report(ToolTest):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "report.html"

    def write(self, *rows, name="rows.jsonl", end="\n"):
        path = self.folder / name
        path.write_text("\n".join(map(json.dumps, rows)) + end)
        return path

    def report(self, *files):
        return farvec("report", *files, "--out", self.page)

    def must_refuse(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertFalse(self.page.exists())
        for word in words:
            self.assertIn(word, result.stderr)

    def test_every_row_of_every_file_is_in_the_page(self):
        self.must_pass(self.report(GRAPHS, CLUSTERS))
        lines = GRAPHS.read_text().splitlines() + CLUSTERS.read_text().splitlines()
        self.assertEqual(rows_in(self.page), [json.loads(line) for line in lines])

    def test_the_page_needs_no_network_and_keeps_the_licence(self):
        self.must_pass(self.report(GRAPHS))
        text = self.page.read_text()
        self.assertNotRegex(text, r"<(script|link|img)[^>]+(src|href)=")
        for words in ("Permission is hereby granted", "Chart.js v", "Released under the MIT License"):
            self.assertIn(words, text)
        self.assertNotRegex(text, r"@[A-Z_]+@")

    def test_a_row_cannot_end_its_script(self):
        row = {**ROW, "index": "</script><script>throw 1</script><!--", "host": "@CHART_JS@ \u2028"}
        self.must_pass(self.report(self.write(row)))
        self.assertEqual(rows_in(self.page), [row])

    def test_a_line_that_was_cut_off_is_left_out(self):
        result = self.report(self.write(ROW, {**ROW, "list": 40}, end=""))
        self.must_pass(result)
        self.assertIn("cut off", result.stderr)
        self.assertEqual(len(rows_in(self.page)), 1)

    def test_what_is_no_sweep_is_refused(self):
        broken = self.folder / "broken.jsonl"
        broken.write_text('{"a": 1}\nnot JSON\n')
        self.must_refuse(self.report(broken), "broken.jsonl", "line 2")
        short = dict(ROW)
        del short["p99_us"]
        self.must_refuse(self.report(self.write(short)), "lacks 'p99_us'", "farvec sweep --json")
        self.must_refuse(self.report(self.write(end="")), "no row")
        self.must_refuse(self.report(self.folder / "none.jsonl"), "none.jsonl")

    def test_a_page_that_cannot_be_written(self):
        self.page = self.folder / "none" / "report.html"
        self.must_refuse(self.report(GRAPHS), "none/report.html")


class SweepPage(ToolTest):
    def setUp(self):
        super().setUp()
        base = write_vectors(self.folder / "base", self.rows(200))
        self.queries = write_vectors(self.folder / "the queries", self.rows(10))
        truth, self.lines, self.page = (self.folder / name for name in ("gt.ibin", "rows.jsonl", "r.html"))
        self.must_pass(farvec("dataset", "groundtruth", "--data", base, "--queries", self.queries,
                              "--metric", "l2", "--k", 5, "--quiet", "--out", truth))
        self.must_pass(self.build(base))
        self.sweep = ["sweep", "--index", self.folder / "index", "--queries", self.queries,
                      "--groundtruth", truth, "--k", 5, "--slots", 1, "--passes", 1, "--html", self.page]

    def test_a_sweep_writes_its_rows_and_how_they_were_made(self):
        sweep = [*self.sweep, "--pass-ms", 1, "--json", self.lines]
        self.must_pass(farvec(*sweep, "--list", "10"))
        self.must_pass(farvec(*sweep, "--list", "10,20", "--resume"))
        rows = rows_in(self.page)
        self.assertEqual(rows, [json.loads(line) for line in self.lines.read_text().splitlines()])
        self.assertEqual([row["list"] for row in rows], [10, 20])
        self.assertIn(" --list 10,20 --resume", rows[1]["command"])
        self.assertIn(f"--queries '{self.queries}'", rows[1]["command"])

    def test_an_interrupted_sweep_writes_what_it_has(self):
        lists = ",".join(map(str, range(10, 60)))
        command = [BIN / "farvec", *self.sweep, "--pass-ms", 200, "--list", lists]
        with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            printed = [process.stdout.readline() for _ in range(2)]
            process.send_signal(signal.SIGINT)
            rest, errors = rest_of(process)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(len(rows_in(self.page)), len(printed + rest.splitlines()) - 1)

    def test_a_page_that_cannot_be_written_is_said_before_anything_is_measured(self):
        self.sweep[-1] = self.folder / "none" / "r.html"
        result = farvec(*self.sweep, "--json", self.lines)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertFalse(self.lines.exists())


@unittest.skipUnless(PROGRAM, "no Chromium: apt-get install chromium-headless-shell")
class InABrowser(ToolTest):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "report.html"
        self.must_pass(farvec("report", GRAPHS, CLUSTERS, "--out", self.page))
        self.browser = Browser(self.folder / "profile")
        self.addCleanup(self.browser.close)

    def open(self, **options):
        self.browser.open(self.page, **options)
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.value("document.documentElement.dataset.ready"), "yes")

    def value(self, expression):
        return self.browser.value(expression)

    def lines(self, chart):
        return self.value(f"Chart.getChart(document.querySelectorAll('canvas')[{chart}])"
                          ".data.datasets.map((line) => line.label)")

    def column(self, key):
        place = self.value("[...document.querySelectorAll('#rows th')]"
                           f".findIndex((name) => name.dataset.key === '{key}')")
        return self.value("[...document.querySelectorAll('#rows tbody tr')]"
                          f".map((row) => row.cells[{place}].textContent)")

    def switch(self, text):
        self.value("[...document.querySelectorAll('#switches label')]"
                   f".find((label) => label.textContent === '{text}').click()")

    def test_it_draws_switches_and_sorts(self):
        self.open()
        self.assertEqual(self.value("document.querySelectorAll('canvas').length"), 5)
        self.assertEqual(len(self.lines(0)), 12)
        self.assertIn("the memory budget", self.value("document.getElementById('failures').innerText"))
        self.switch("dram")
        self.assertEqual({line.split(",")[0] for line in self.lines(0)}, {"emulated:rdma"})
        self.assertEqual(set(self.column("tier")), {"emulated:rdma"})
        self.switch("csr")
        self.assertFalse(any("csr" in line for line in self.lines(3)))
        self.switch("dram")
        self.switch("emulated:rdma")
        self.assertEqual(set(self.column("index")), {"padded", "grouped", "coupled"} - {"padded"})
        self.value("document.querySelector('#rows th[data-key=qps] button').click()")
        rates = [float(text.replace(",", "")) for text in self.column("qps")]
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual({url.split(":")[0] for url in self.browser.requests}, {"file"})

    def test_a_point_says_everything_of_itself(self):
        self.open()
        place = self.value("""(() => {
          const canvas = document.querySelector("canvas");
          canvas.scrollIntoView({ block: "center" });
          const point = Chart.getChart(canvas).getDatasetMeta(0).data[0];
          const box = canvas.getBoundingClientRect();
          return [box.left + point.x, box.top + point.y];
        })()""")
        self.browser.point_at(*place)
        said = self.value("document.getElementById('tip').innerText")
        for words in ("csr", "degree", "reads_per_query", "amplification", "2.03"):
            self.assertIn(words, said)
        self.browser.point_at(1, 1)
        self.assertTrue(self.value("document.getElementById('tip').hidden"))

    def test_dark_light_and_narrow(self):
        grounds = set()
        for dark in (False, True):
            self.open(dark=dark, width=390, height=844)
            grounds.add(self.value("getComputedStyle(document.body).backgroundColor"))
            self.assertLessEqual(self.value("document.documentElement.scrollWidth"), 390)
        self.assertEqual(len(grounds), 2)
        self.value("document.getElementById('theme').click()")
        self.assertEqual(self.value("document.documentElement.dataset.theme"), "light")


if __name__ == "__main__":
    unittest.main()
