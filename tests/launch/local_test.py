"""Daemons as processes of this machine, without rights: the whole way, and what goes wrong on
it."""
import fcntl
import os
import signal
import sys
import unittest

from launch_tool import ROOT, LaunchTest, launch, processes_with

sys.path.insert(0, str(ROOT / "scripts/launch"))
from launcher.actions import Actions  # noqa: E402  (found there)
from launcher.config import read_config  # noqa: E402


class Local(LaunchTest):
    def test_up_sweep_down(self):
        self.up_sweep_down()

    def pid_of(self, name):
        return int((self.run_dir / f"{name}.pid").read_text().split()[0])

    def start_all(self):
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.must_launch("up")

    def test_up_again_starts_what_is_missing_only(self):
        self.start_all()
        kept, killed = self.pid_of("c0.compute"), self.pid_of("c1.compute")
        os.kill(killed, signal.SIGKILL)
        status = self.launch("status")
        self.assertEqual(status.returncode, 3)
        self.assertRegex(status.stdout, r"c1\.compute .* ended .*killed, or crashed")
        self.assertNotIn(" info ", status.stdout)
        self.must_launch("up")
        self.assertEqual(self.pid_of("c0.compute"), kept)
        self.assertNotEqual(self.pid_of("c1.compute"), killed)
        self.must_launch("down")

    def test_up_starts_what_ends_after_its_first_look(self):
        self.start_all()
        killed = self.pid_of("c1.compute")
        actions = Actions(read_config(self.write_config()))
        look = actions.launcher.status

        def look_then_kill(daemons):
            states = look(daemons)
            actions.launcher.status = look
            os.kill(killed, signal.SIGKILL)
            return states

        actions.launcher.status = look_then_kill
        self.assertEqual(actions.up(), 0)
        self.assertNotEqual(self.pid_of("c1.compute"), killed)
        self.must_launch("status")
        self.must_launch("down")

    def test_a_lost_memory_node_is_replaced_by_its_replica(self):
        self.tables["placement"]["replicas"] = 2
        self.start_all()
        os.kill(self.pid_of("m0.memory"), signal.SIGKILL)
        self.must_sweep()
        status = self.launch("status")
        self.assertEqual(status.returncode, 3)
        self.assertRegex(status.stdout, r"m0\.memory .* ended ")
        self.assertEqual(status.stdout.count(" serving\n"), 3, status.stdout)
        self.must_launch("up")
        self.must_launch("status")
        self.must_launch("down")
        self.must_be_gone()

    def test_down_kills_what_does_not_end(self):
        self.tables["limits"]["stop_seconds"] = 1
        self.start_all()
        os.kill(self.pid_of("m0.memory"), signal.SIGSTOP)
        self.assertIn("m0.memory had to be killed", self.must_launch("down").stdout)
        self.must_be_gone()

    def test_a_pid_of_somebody_else_is_left_alone(self):
        self.run_dir.mkdir(mode=0o700)
        (self.run_dir / "m0.memory.pid").write_text(f"{os.getpid()} 1\n")
        self.must_launch("down")
        self.must_be_gone()

    def test_down_ends_a_daemon_that_the_file_no_longer_has(self):
        self.start_all()
        self.tables["[node]"].pop()
        self.must_launch("down")
        self.assertEqual(processes_with(str(self.run_dir)), [])

    def test_two_at_a_time_are_refused(self):
        with open(self.write_config(), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.must_refuse(launch("down", file.name), "another launch.sh works with this file")

    def test_load_while_daemons_run_is_refused(self):
        self.start_all()
        self.must_refuse(self.launch("load"), "m0.memory", "still run", "launch.sh down")

    def test_up_says_which_daemon_did_not_serve_and_shows_its_log(self):
        self.tables["compute"] = {"options": ["--no-such-option"]}
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        result = self.launch("up")
        self.must_refuse(result, "c0.compute on 127.0.0.1 has ended: ", "--no-such-option")
        self.assertRegex(self.launch("status").stdout, r"c1\.compute .* ended .*--no-such-option")
        self.assertNotIn("m0.memory", result.stderr)
        self.assertIn("--no-such-option", self.must_launch("logs", "c1").stdout)
        self.must_launch("down")
        self.must_be_gone()

    def test_up_has_a_deadline(self):
        self.tables["limits"]["start_seconds"] = 2
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.tables["memory"] = {"options": ["--log-level", "error"]}  # never says that it serves
        result = self.launch("up")
        self.must_refuse(result, "m0.memory on 127.0.0.1 does not serve after 2 s",
                         "launch.sh down")

    def test_logs_of_a_node_that_is_not_there(self):
        self.must_refuse(self.launch("logs", "m9"), "no node 'm9'", "m0.memory")


if __name__ == "__main__":
    unittest.main()
