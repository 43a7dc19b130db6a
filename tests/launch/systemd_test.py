"""Daemons as units of a real systemd: this machine's, or else one that the test starts as the first
process of a namespace."""
import os
import pathlib
import shutil
import subprocess
import time
import unittest

from launch_tool import LaunchTest

SYSTEMD = "/usr/lib/systemd/systemd"
SECONDS = 30
TARGET = "[Unit]\nDescription=nothing\nDefaultDependencies=no\n"
# Its own branch of the control groups, so that all of it can be removed.
OUTSIDE = """set -e
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir /sys/fs/cgroup/{name}
echo $$ >/sys/fs/cgroup/{name}/cgroup.procs
exec unshare --cgroup --pid --fork --kill-child --mount-proc sh {folder}/inside.sh
"""
INSIDE = """set -e
umount /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
exec env -i container=farvec PATH="$PATH" SYSTEMD_LOG_TARGET=console \\
  SYSTEMD_UNIT_PATH=/run/systemd/system:{folder} \\
  {systemd} --system --unit=farvec-test.target --show-status=no
"""
REMOVE = """mount -t cgroup2 cgroup2 /sys/fs/cgroup
find /sys/fs/cgroup/{name} -depth -type d -exec rmdir {{}} +
"""


class Systemd(LaunchTest):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("units of the system need root")
        super().setUp()
        self.tables[""] |= {"name": f"test-{os.getpid()}", "launcher": "systemd"}
        self.tables["placement"]["shared"] = True
        self.tables["systemd"] = {"remote": False}
        self.enter = []
        if not os.path.isdir("/run/systemd/system"):
            self.start_systemd()

    def start_systemd(self):
        if not os.path.exists(SYSTEMD) or not shutil.which("unshare"):
            self.skipTest("there is no systemd here")
        for name in ("farvec-test", "sysinit", "basic", "shutdown", "network-online"):
            (self.folder / f"{name}.target").write_text(TARGET)
        self.group = f"farvec-test-{os.getpid()}"
        words = {"name": self.group, "folder": self.folder, "systemd": SYSTEMD}
        for name, text in (("outside.sh", OUTSIDE), ("inside.sh", INSIDE)):
            (self.folder / name).write_text(text.format(**words))
        log = open(self.folder / "systemd.log", "w")
        self.addCleanup(log.close)
        self.outside = subprocess.Popen(["unshare", "--mount", "sh", self.folder / "outside.sh"],
                                        stdout=log, stderr=log)
        self.addCleanup(self.end_systemd)
        first = self.wait_for_first()
        self.enter = ["nsenter", "--target", first, "--pid", "--mount", "--cgroup"]

    def wait_for_first(self):
        """The pid of the systemd once it takes commands."""
        end = time.monotonic() + SECONDS
        while self.outside.poll() is None and time.monotonic() < end:
            children = pathlib.Path(f"/proc/{self.outside.pid}/task/{self.outside.pid}/children")
            for pid in children.read_text().split():
                told = subprocess.run(
                    ["nsenter", "--target", pid, "--pid", "--mount", "systemctl",
                     "is-system-running"], capture_output=True, text=True, timeout=SECONDS,
                    check=False)
                if told.stdout.strip() in ("running", "degraded"):
                    return pid
            time.sleep(0.1)
        self.skipTest("no systemd could be started in a namespace here: "
                      + (self.folder / "systemd.log").read_text())

    def end_systemd(self):
        self.outside.kill()  # takes the namespace with it
        self.outside.wait(timeout=SECONDS)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            removed = subprocess.run(
                ["unshare", "--mount", "sh", "-c", REMOVE.format(name=self.group)],
                capture_output=True, timeout=SECONDS, check=False)
            if removed.returncode == 0:
                return
            time.sleep(0.1)

    def launch(self, action, *arguments, **options):
        return super().launch(action, *arguments, prefix=self.enter, **options)

    def test_up_sweep_down(self):
        self.up_sweep_down()
        units = subprocess.run([*self.enter, "systemctl", "list-units", "--all", "--no-legend",
                                f"farvec-{self.tables['']['name']}-*"], text=True, check=True,
                               capture_output=True, timeout=SECONDS)
        self.assertEqual(units.stdout, "")

    def test_a_unit_that_cannot_start_is_told(self):
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.tables["memory"] = {"options": ["--no-such-option"]}
        self.must_refuse(self.launch("up"), "m0.memory on 127.0.0.1 has ended", "--no-such-option")
        self.must_launch("down")
        self.must_be_gone()


if __name__ == "__main__":
    unittest.main()
