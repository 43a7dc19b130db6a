"""Daemons as one Slurm batch job, one step per role. The run folder, the index and the programs are
on a file system that all nodes of the job see."""
import pathlib
import re
import shlex
import sys
import time

from . import commands
from .errors import LaunchError
from .machines import run
from .processes import ProcessLauncher, State

SECONDS = 60
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL",
         "DEADLINE", "PREEMPTED")
BATCH = """#!/bin/bash
#SBATCH --job-name=farvec-{name}
#SBATCH --nodelist={hosts}
#SBATCH --nodes={nodes}
#SBATCH --ntasks={tasks}
#SBATCH --overcommit
#SBATCH --mem=0
#SBATCH --no-kill
#SBATCH --no-requeue
#SBATCH --output={run_dir}/job.log
{options}
# One step per role; task N of a step is line N of ROLE.hosts and starts ROLE-N.sh. The batch shell
# outlives a SIGTERM, so that steps drain before the job ends.
trap : TERM
step() {{
  SLURM_HOSTFILE={run_dir}/$1.hosts srun --distribution=arbitrary --ntasks="$2" --overlap \\
    --overcommit --mem=0 --kill-on-bad-exit=0 --wait=0 --no-kill \\
    sh -c "exec sh {run_dir}/$1-\\$SLURM_PROCID.sh" &
}}
{steps}
while ! wait; do :; done
"""
# The shell outlives the SIGTERM of the step, and tells how the daemon ended.
TASK = """trap : TERM INT
{command} >>{log} 2>&1
echo "launch: ended with status $?" >>{log}
"""


class SlurmLauncher(ProcessLauncher):
    def __init__(self, config):
        super().__init__(config)
        self.run_dir = pathlib.Path(config.run_dir)
        self.job_file = self.run_dir / "job"

    def memory_bytes(self, facts):
        """What Slurm knows of the nodes: their memory without that of other jobs."""
        nodes = {daemon.node.reach for daemon in self.config.daemons("memory")}
        return {node: self.free_bytes(node) for node in nodes}

    def free_bytes(self, node):
        text = run(["scontrol", "show", "node", "--oneliner", node], node, SECONDS)
        fields = dict(re.findall(r"(AllocMem|RealMemory)=([0-9]+)", text))
        real = int(fields.get("RealMemory", 0))
        if real <= 1:  # slurm.conf does not say
            return sys.maxsize
        return (real - int(fields.get("AllocMem", 0))) << 20

    def clean(self):
        return []

    def start(self, daemons):
        job, state = self.job()
        if state and state not in ENDED:
            return
        self.machines.agent("", "make_run_dir")
        for daemon in daemons:
            log = self.run_dir / f"{daemon.name}.log"
            if log.exists():
                log.replace(log.with_suffix(".log.1"))
        self.write_files(daemons)
        text = run(["sbatch", "--parsable", str(self.run_dir / "job.sh")], "sbatch", SECONDS)
        self.job_file.write_text(text.strip().partition(";")[0] + "\n", encoding="utf-8")

    def write_files(self, daemons):
        """The batch script, and per role the hosts and the command of each task."""
        roles = {}
        for daemon in daemons:
            roles.setdefault(daemon.role, []).append(daemon)
        for role, members in roles.items():
            self.write(f"{role}.hosts", "".join(f"{d.node.reach}\n" for d in members))
            for task, daemon in enumerate(members):
                self.write(f"{role}-{task}.sh", self.task_script(daemon))
        hosts = sorted({daemon.node.reach for daemon in daemons})
        options = list(self.config.slurm["options"])
        if self.config.slurm["partition"]:
            options.append(f"--partition={self.config.slurm['partition']}")
        self.write("job.sh", BATCH.format(
            name=self.config.name, hosts=",".join(hosts), nodes=len(hosts), tasks=len(daemons),
            run_dir=self.run_dir, options="".join(f"#SBATCH {option}\n" for option in options),
            steps="\n".join(f"step {role} {len(members)}" for role, members in roles.items())))

    def task_script(self, daemon):
        return TASK.format(command=shlex.join(commands.daemon_command(self.config, daemon)),
                           log=self.run_dir / f"{daemon.name}.log")

    def write(self, name, text):
        (self.run_dir / name).write_text(text, encoding="utf-8")

    def job(self):
        """(id, state) of the last job; ("", "") without one."""
        if not self.job_file.exists():
            return "", ""
        job = self.job_file.read_text(encoding="utf-8").strip()
        try:
            text = run(["scontrol", "show", "job", "--oneliner", job], "scontrol", SECONDS)
        except LaunchError as error:
            if "Invalid job id" in str(error):  # Slurm has forgotten it
                return job, "COMPLETED"
            raise
        match = re.search(r"JobState=([A-Z_]+)", text)
        return job, match.group(1) if match else ""

    def status(self, daemons):
        job, state = self.job()
        if not state:
            return {daemon.name: State("absent", "-", "") for daemon in daemons}
        if state != "RUNNING":
            process = "ended" if state in ENDED else "running"
            return {daemon.name: State(process, job, f"job {job} is {state}") for daemon in daemons}
        return {name: State("ended" if "launch: ended" in told.log_line else "running", job,
                            told.log_line) for name, told in super().status(daemons).items()}

    def stop(self, daemons):
        """SIGTERM to the steps, and SIGKILL to the whole job when they outlast the bound."""
        job, state = self.job()
        if not state or state in ENDED:
            self.job_file.unlink(missing_ok=True)
            return {daemon.name: "stopped" for daemon in daemons}
        outcome = "stopped"
        if state == "RUNNING":
            run(["scancel", "--signal=TERM", job], "scancel", SECONDS)
            ended = self.await_end(self.config.limits["stop_seconds"])
        else:
            ended = False
        if not ended:
            outcome = "killed" if state == "RUNNING" else "stopped"
            run(["scancel", job], "scancel", SECONDS)
            ended = self.await_end(60)
        if ended:
            self.job_file.unlink(missing_ok=True)
        return {daemon.name: outcome if ended else f"left {job}" for daemon in daemons}

    def await_end(self, seconds):
        end = time.monotonic() + seconds
        while self.job()[1] not in ("", *ENDED):
            if time.monotonic() > end:
                return False
            time.sleep(0.5)
        return True
