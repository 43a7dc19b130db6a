"""Daemons over ssh: a real sshd on a port of its own when there is one here, else a stand-in that
runs what ssh would send."""
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

from farvec_tool import free_port
from launch_tool import ROOT, LaunchTest

SSHD = "/usr/sbin/sshd"
SECONDS = 30
SSHD_CONFIG = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PidFile none
"""
# Like ssh: skips options and the host; the rest, joined by spaces, is a shell's.
STAND_IN = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in -o | -p | -i | -l) shift 2 ;; -*) shift ;; *) break ;; esac
done
[ "$1" != nowhere.invalid ] || { echo "ssh: cannot resolve nowhere.invalid" >&2; exit 255; }
shift
exec sh -c "$*"
"""


class Ssh(LaunchTest):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ)
        self.tables[""]["launcher"] = "ssh"
        self.tables["ssh"] = {"pdsh": False}
        self.tables["placement"]["target"] = str(self.folder / "there/index")
        if os.path.exists(SSHD) and os.geteuid() == 0 and shutil.which("ssh"):
            self.start_sshd()
        else:
            self.stand_in()

    def start_sshd(self):
        pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd wants it
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key],
                           check=True, timeout=SECONDS)
        port = free_port()
        (self.folder / "sshd_config").write_text(SSHD_CONFIG.format(port=port, folder=self.folder))
        log = open(self.folder / "sshd.log", "w")
        self.addCleanup(log.close)
        sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", self.folder / "sshd_config"], stdout=log,
                                stderr=log)
        self.addCleanup(sshd.wait, timeout=SECONDS)
        self.addCleanup(sshd.kill)
        self.wait_for(port)
        self.tables["ssh"]["options"] = [
            "-p", str(port), "-i", str(self.folder / "user"), "-o", "StrictHostKeyChecking=no",
            "-o", f"UserKnownHostsFile={self.folder}/known", "-o", "LogLevel=ERROR", "-F", "none"]

    def wait_for(self, port):
        end = time.monotonic() + SECONDS
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
                    return
            except OSError:
                if time.monotonic() > end:
                    self.fail((self.folder / "sshd.log").read_text())
                time.sleep(0.1)

    def stand_in(self):
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "ssh").write_text(STAND_IN)
        (folder / "ssh").chmod(0o755)
        self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"

    def launch(self, action, *arguments, **options):
        return super().launch(action, *arguments, env=self.environment, **options)

    def two_machines(self):
        """Names of one machine, so that there are several to ask."""
        for node, reach in zip(self.tables["[node]"], ("127.0.0.1", "localhost") * 2):
            node["reach"] = reach

    @unittest.skipUnless(shutil.which("rsync"), "there is no rsync (package rsync)")
    def test_up_sweep_down(self):
        self.two_machines()
        self.tables["placement"]["replicas"] = 2
        certificates = self.folder / "certs"
        subprocess.run([ROOT / "scripts/tls/make-certs.sh", certificates], check=True,
                       capture_output=True, timeout=SECONDS)
        self.tables["tls"] = {"directory": str(certificates)}
        (self.folder / "there/index").mkdir(parents=True)
        (self.folder / "there/index/own").write_text("kept")
        self.up_sweep_down()
        self.assertTrue((self.folder / "there/index/manifest.json").exists())
        self.assertEqual((self.folder / "there/index/own").read_text(), "kept")
        self.assertEqual(sorted(path.name for path in (self.run_dir / "tls").iterdir()),
                         ["ca.crt", "node.crt", "node.key"])

    @unittest.skipUnless(shutil.which("pdsh") and os.path.exists(SSHD), "there is no pdsh or sshd")
    def test_facts_through_pdsh(self):
        self.two_machines()
        self.tables["ssh"]["pdsh"] = True
        self.must_refuse(self.launch("up"), "launch.toml: placement", "launch.sh load")
        self.must_launch("load")
        self.addCleanup(self.launch, "down")
        self.must_launch("up")
        self.must_launch("down")
        self.must_be_gone()

    @unittest.skipUnless(shutil.which("rsync"), "there is no rsync (package rsync)")
    def test_down_with_a_machine_that_cannot_be_reached(self):
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.must_launch("up")
        self.tables["[node]"][2]["reach"] = "nowhere.invalid"
        result = self.launch("down")
        self.must_refuse(result, "nowhere.invalid: ssh failed with status 255")
        self.assertNotIn("nothing is left", result.stdout)
        self.tables["[node]"][2]["reach"] = "127.0.0.1"
        status = self.launch("status").stdout
        self.assertEqual(status.count("absent"), 3, status)
        self.must_launch("down")
        self.must_be_gone()

    def test_an_index_that_was_not_copied(self):
        self.tables["placement"]["memory_nodes"] = ["m0"]
        self.must_refuse(self.launch("up"), "placement.target: node m0", "launch.sh load")

    def test_a_machine_that_cannot_be_reached(self):
        self.tables["[node]"][2]["reach"] = "nowhere.invalid"
        self.must_refuse(self.launch("up"), "nowhere.invalid: ssh failed with status 255")
        self.assertFalse(self.run_dir.exists())


if __name__ == "__main__":
    unittest.main()
