"""A root to install in: an overlay over this machine's, in namespaces of its own. What is written
there, and every process, is gone with it."""
import os
import pathlib
import shutil
import subprocess
import time

SECONDS = 60
SYSTEMD = "/usr/lib/systemd/systemd"
TARGET = "[Unit]\nDescription=nothing\nDefaultDependencies=no\n"
# What units print is kept where there is no journal.
LOGGED = "[Service]\nStandardOutput=append:/tmp/log\nStandardError=append:/tmp/log\n"
# Its own branch of the control groups, for systemd.
OUTSIDE = """set -e
if {boot}; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  mkdir /sys/fs/cgroup/{name}
  echo $$ >/sys/fs/cgroup/{name}/cgroup.procs
fi
exec unshare --cgroup --pid --net --uts --ipc --mount --fork --kill-child sh {folder}/inside.sh
"""
INSIDE = """set -e
root={folder}/root
ip link set lo up
mount -t tmpfs tmpfs {folder}/layers
mkdir {folder}/layers/upper {folder}/layers/work
mount -t overlay -o lowerdir=/,upperdir={folder}/layers/upper,workdir={folder}/layers/work \\
  overlay $root
mount -t proc proc $root/proc
mount -t sysfs sysfs $root/sys
mount --bind /dev $root/dev
for folder in run tmp dev/shm; do mount -t tmpfs -o mode=1777 tmpfs $root/$folder; done
mkdir $root/tmp/given
mount --bind {folder}/given $root/tmp/given
rm -f $root/usr/sbin/policy-rc.d  # containers have one that forbids what a package starts and stops
if {boot}; then
  # Nothing but what packages bring: this machine's units would set up its devices and kernel.
  for folder in lib etc; do rm -rf $root/$folder/systemd/system $root/$folder/systemd/system-*; done
  mkdir $root/lib/systemd/system $root/etc/systemd/system
  umount /sys/fs/cgroup
  mount -t cgroup2 cgroup2 $root/sys/fs/cgroup
  mkdir -p $root/run/systemd/system
  cp -r {folder}/units/. $root/run/systemd/system
  exec env -i container=farvec PATH="$PATH" SYSTEMD_LOG_TARGET=console \\
    chroot $root {systemd} --system --unit=farvec-test.target --show-status=no
fi
exec chroot $root sleep infinity
"""
REMOVE = """mount -t cgroup2 cgroup2 /sys/fs/cgroup
[ ! -d /sys/fs/cgroup/{name} ] || find /sys/fs/cgroup/{name} -depth -type d -exec rmdir {{}} +
"""


class PrivateRoot:
    """`folder` is empty and the caller's; given/ in it is /tmp/given in the root."""

    def __init__(self, folder, boot):
        self.folder, self.boot = pathlib.Path(folder), boot
        self.name = f"farvec-packages-{os.getpid()}"
        for one in ("root", "layers", "given", "units/service.d"):
            (self.folder / one).mkdir(parents=True, exist_ok=True)
        for target in ("farvec-test", "sysinit", "basic", "shutdown", "network-online"):
            (self.folder / "units" / f"{target}.target").write_text(TARGET)
        (self.folder / "units/service.d/logged.conf").write_text(LOGGED)
        words = {"folder": self.folder, "name": self.name, "systemd": SYSTEMD,
                 "boot": str(boot).lower()}
        for script, text in (("outside.sh", OUTSIDE), ("inside.sh", INSIDE)):
            (self.folder / script).write_text(text.format(**words))
        with open(self.folder / "log", "w") as log:
            self.outside = subprocess.Popen(["unshare", "--mount", "sh", self.folder / "outside.sh"],
                                            stdout=log, stderr=log)
        self.first = None

    def wait(self):
        """True once commands can run in it; False when it could not be made, see log()."""
        end = time.monotonic() + SECONDS
        ready = ["systemctl", "is-system-running"] if self.boot else ["true"]
        while self.outside.poll() is None and time.monotonic() < end:
            children = pathlib.Path(f"/proc/{self.outside.pid}/task/{self.outside.pid}/children")
            self.first = next(iter(children.read_text().split()), None)
            if self.first and self.path("tmp/given").is_dir():
                said = self.run(*ready)
                if said.stdout.strip() in (("running", "degraded") if self.boot else ("",)):
                    return True
            time.sleep(0.1)
        return False

    def log(self):
        return (self.folder / "log").read_text()

    def path(self, path):
        """As this machine sees it."""
        return pathlib.Path(f"/proc/{self.first}/root") / str(path).lstrip("/")

    def command(self, *command):
        return ["nsenter", "--target", self.first, "--all", "--root", "env", "-i", "--chdir=/",
                "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C",
                *map(str, command)]

    def run(self, *command, seconds=300):
        return subprocess.run(self.command(*command), text=True, capture_output=True, check=False,
                              timeout=seconds, stdin=subprocess.DEVNULL)

    def output(self, *command, **options):
        done = self.run(*command, **options)
        if done.returncode:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def close(self):
        self.outside.kill()  # takes the namespaces with it
        self.outside.wait(timeout=SECONDS)
        end = time.monotonic() + 10  # until the processes have left the control group
        while time.monotonic() < end:
            gone = subprocess.run(["unshare", "--mount", "sh", "-c", REMOVE.format(name=self.name)],
                                  capture_output=True, timeout=SECONDS, check=False)
            if gone.returncode == 0 or not self.boot:
                return
            time.sleep(0.1)


def private_root(test, folder, boot):
    """One that takes commands, with a systemd when it is to be booted; closed after the test, which
    is skipped where there can be none."""
    if os.geteuid() != 0:
        test.skipTest("installing in a root of its own needs root")
    if not shutil.which("unshare") or not shutil.which("nsenter"):
        test.skipTest("unshare and nsenter are not here")
    if boot and not os.path.exists(SYSTEMD):
        test.skipTest("there is no systemd here")
    root = PrivateRoot(folder, boot)
    test.addCleanup(root.close)
    if not root.wait():
        test.skipTest(f"no root of its own can be made here: {root.log()}")
    return root
