"""The batch job on a real Slurm of one machine, which the test starts: controller, node daemon and
munge, on their own ports and folders."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import time
import unittest

from farvec_tool import free_port
from launch_tool import LaunchTest

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "scontrol")
SECONDS = 60
CONF = """ClusterName=farvec
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=10
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory={memory}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def why_not():
    if os.geteuid() != 0:
        return "a Slurm of one's own needs root"
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    return f"there is no {', '.join(missing)} here" if missing else None


class Slurm(LaunchTest):
    def setUp(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        super().setUp()
        # Job and daemons run with the rights of root; munged runs as its own user.
        self.folder.chmod(0o755)
        self.host = socket.gethostname().partition(".")[0]
        self.processes = []
        self.addCleanup(self.end_slurm)
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.start_munge()
        self.start_slurm()
        self.tables[""]["launcher"] = "slurm"
        for node in self.tables["[node]"]:
            node["reach"] = self.host

    def start(self, *command):
        log = open(self.folder / f"{command[0]}.out", "w")
        self.addCleanup(log.close)
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log,
                                               env=self.environment))

    def end_slurm(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=20)

    def start_munge(self):
        user = pwd.getpwnam("munge")
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        for path in (folder, key):
            os.chown(path, user.pw_uid, user.pw_gid)
        munged = shutil.which("munged")
        self.start("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
                   munged, "--foreground", "--force", f"--socket={folder}/munge.socket",
                   f"--key-file={key}", f"--pid-file={folder}/munged.pid",
                   f"--seed-file={folder}/munged.seed", f"--log-file={folder}/munged.log")
        self.wait_for(lambda: (folder / "munge.socket").exists(), "munged")

    def start_slurm(self):
        folder = self.folder / "slurm"
        for path in (folder, folder / "state", folder / "spool"):
            path.mkdir()
        (folder / "munge.socket").symlink_to(self.folder / "munge/munge.socket")
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
        pathlib.Path(self.environment["SLURM_CONF"]).write_text(CONF.format(
            host=self.host, folder=folder, controller_port=free_port(), node_port=free_port(),
            processors=os.cpu_count(), memory=memory * 9 // 10))
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        self.wait_for(self.node_is_idle, "the Slurm node")

    def node_is_idle(self):
        told = subprocess.run(["scontrol", "show", "node", "--oneliner", self.host], text=True,
                              capture_output=True, timeout=SECONDS, check=False,
                              env=self.environment)
        return "State=IDLE " in told.stdout

    def wait_for(self, condition, what):
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                logs = "\n".join(path.read_text() for path in self.folder.rglob("*.out"))
                self.fail(f"{what} did not come up: {logs}")
            time.sleep(0.1)

    def test_up_sweep_down(self):
        self.up_sweep_down(env=self.environment)
        jobs = subprocess.run(["squeue", "--noheader"], text=True, capture_output=True, check=True,
                              timeout=SECONDS, env=self.environment)
        self.assertEqual(jobs.stdout, "")


if __name__ == "__main__":
    unittest.main()
