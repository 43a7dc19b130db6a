"""scripts/run_ctest.py and scripts/test_report.py, over build folders of a few shell commands."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"
GTEST_SKIP = 'a_test.cc:7: Skipped\\n"/x" is not\\nthere\\n\\n[  SKIPPED ] A.B (0 ms)'


class TestReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        self.report = self.build / "tests.xml"

    def add_test(self, name, command, **properties):
        """A test that runs `command` in the shell; the build folder is its $0."""
        lines = [f'add_test({name} "/bin/sh" "-c" [==[{command}]==] "{self.build}")']
        lines += [f'set_tests_properties({name} PROPERTIES {key} "{value}")'
                  for key, value in properties.items()]
        with open(self.build / "CTestTestfile.cmake", "a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def add_late_test(self, name, **properties):
        """It fails the first time and passes the second."""
        self.add_test(name, f'[ -e "$0/{name}" ] || {{ touch "$0/{name}"; exit 1; }}', **properties)

    def run_script(self, name, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPTS / name, *map(str, arguments)],
                              capture_output=True, text=True, timeout=100, check=False)

    def run_tests(self, *arguments, seconds=60):
        """The exit status, and what the report says of it."""
        status = self.run_script("run_ctest.py", self.report, seconds, *arguments).returncode
        steps = int(status != 0)
        return status, self.run_script("test_report.py", "--failed-steps", steps,
                                       self.report).stdout

    def test_all_passed(self):
        self.add_test("one", "true", LABELS="unit")
        status, text = self.run_tests()
        self.assertEqual(status, 0)
        self.assertIn("tests.xml: 0 failed, 0 skipped, 1 passed\nAll steps passed.\n", text)

    def test_a_failure_is_named_with_its_output(self):
        self.add_test("one", "echo the reason; false", LABELS="unit")
        self.add_test("two", "true", LABELS="rdma")
        status, text = self.run_tests()
        self.assertEqual(status, 1)
        self.assertIn("1 failed, 0 skipped, 1 passed\n-- one: the last of 1 lines\nthe reason", text)
        self.assertIn("1 step(s) failed.", text)

    def test_what_passes_the_second_time_has_failed(self):
        for label in ("unit", "e2e", "tool", "launch", "rdma_not"):
            self.add_late_test(label, LABELS=label)
        status, text = self.run_tests()
        self.assertEqual(status, 1)
        self.assertIn("5 failed", text)
        self.assertNotIn("again", text)

    def test_rdma_passes_the_second_time_and_the_report_says_so(self):
        self.add_late_test("rdma.a+b", LABELS="launch;rdma")
        self.add_test("rdma.aab", "false", LABELS="unit")
        self.add_test("rdma.fine", "true", LABELS="rdma")
        status, text = self.run_tests("-E", "aab")
        self.assertEqual(status, 0)
        self.assertIn("0 failed, 0 skipped, 2 passed\n   passed only when run again: rdma.a+b\n", text)

    def test_a_late_fixture_excuses_what_needs_it(self):
        self.add_late_test("up", LABELS="rdma", FIXTURES_SETUP="guest")
        self.add_test("needs", '[ -e "$0/up" ]', LABELS="rdma", FIXTURES_REQUIRED="guest")
        status, text = self.run_tests()
        self.assertEqual(status, 0)
        self.assertIn("passed only when run again: needs up", text)

    def test_rdma_does_not_excuse_another(self):
        self.add_late_test("late", LABELS="rdma")
        self.add_late_test("race", LABELS="e2e")
        status, text = self.run_tests()
        self.assertEqual(status, 1)
        self.assertIn("1 failed, 0 skipped, 1 passed\n-- race", text)
        self.assertIn("passed only when run again: late", text)

    def test_rdma_that_fails_twice_has_failed(self):
        self.add_test("bad", "false", LABELS="rdma")
        status, text = self.run_tests()
        self.assertEqual(status, 1)
        self.assertIn("1 failed", text)

    def test_what_could_not_be_run_has_failed(self):
        with open(self.build / "CTestTestfile.cmake", "w", encoding="utf-8") as file:
            file.write('add_test(gone "/no/such/program")\n')
        status, text = self.run_tests()
        self.assertEqual(status, 1)
        self.assertIn("1 failed, 0 skipped, 0 passed", text)

    def test_nothing_to_run_has_failed(self):
        self.add_test("one", "true")
        self.assertEqual(self.run_tests("-R", "none")[0], 1)

    def test_an_old_report_is_not_this_run(self):
        self.add_test("one", "true")
        self.assertEqual(self.run_tests()[0], 0)
        self.add_test("two", "sleep 30", LABELS="rdma")
        status, text = self.run_tests(seconds=1)
        self.assertEqual(status, 1)
        self.assertIn("tests.xml: not written, the run ended before its tests did", text)

    def test_skips_are_counted_by_reason(self):
        matched = {"SKIP_REGULAR_EXPRESSION": "\\\\[  SKIPPED \\\\]"}
        self.add_test("unit1", f"printf '{GTEST_SKIP}'", **matched)
        self.add_test("unit2", f"printf '{GTEST_SKIP}'", **matched)
        self.add_test("shell", "echo skipped: there is no pair; exit 77", SKIP_RETURN_CODE=77)
        self.add_test("python", "echo \"test_a (A.test_a) ... skipped 'no root'\"; "
                                "echo 'test_b (A.test_b) ... skipped \"no root'\"'\"'s\"'")
        self.add_test("silent", "exit 77", SKIP_RETURN_CODE=77)
        status, text = self.run_tests()
        self.assertEqual(status, 0)
        self.assertIn("0 failed, 4 skipped, 1 passed\n", text)
        for line in ('2  "/x" is not there', "1  there is no pair", "1  no root", "1  no root's",
                     "1  no reason given"):
            self.assertRegex(text, f"(?m)^ +{line}$")
        self.assertIn("\nAll steps passed.\n", text)

    def test_without_data_is_not_all(self):
        self.add_test("python", "echo \"test_a (A.test_a) ... skipped 'no data: no deep20k'\"")
        _, text = self.run_tests()
        self.assertTrue(text.endswith("\nPassed without data: 1 test(s) did not find theirs.\n"))


if __name__ == "__main__":
    unittest.main()
