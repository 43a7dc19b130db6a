"""Two memory nodes and two compute nodes, each in a network namespace of its own, over mutual TLS
and libfabric's tcp."""
import os
import shutil
import subprocess
import unittest

from launch_tool import ROOT, LaunchTest

BRIDGE = f"fv{os.getpid() % 100000}"
NETWORK = "10.213.77"


def why_not():
    """Why there can be no namespaces here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip"):
        return "there is no program 'ip' (package iproute2)"
    try:
        for command in (["ip", "netns", "add", BRIDGE], ["ip", "link", "add", BRIDGE, "type",
                                                         "bridge"]):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
    except subprocess.CalledProcessError as error:
        return f"this kernel or container refuses: {error.stderr.strip()}"
    finally:
        subprocess.run(["ip", "netns", "delete", BRIDGE], capture_output=True, timeout=20,
                       check=False)
        subprocess.run(["ip", "link", "delete", BRIDGE], capture_output=True, timeout=20,
                       check=False)
    return None


class Namespaces(LaunchTest):
    def setUp(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        super().setUp()
        self.tables[""]["name"] = "test"
        self.tables["local"] = {"bridge": BRIDGE, "bridge_address": f"{NETWORK}.254/24"}
        for place, node in enumerate(self.tables["[node]"], start=1):
            node |= {"host": f"{NETWORK}.{place}", "netns": True}
        certificates = self.folder / "certs"
        hosts = [word for node in self.tables["[node]"] for word in ("--host", node["host"])]
        subprocess.run([ROOT / "scripts/tls/make-certs.sh", certificates, *hosts], check=True,
                       capture_output=True, timeout=60)
        self.tables["tls"] = {"directory": str(certificates)}

    def test_up_sweep_down(self):
        self.up_sweep_down()
        names = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True,
                               timeout=20).stdout
        self.assertNotIn("farvec-test-", names)
        self.assertFalse(os.path.exists(f"/sys/class/net/{BRIDGE}"))


if __name__ == "__main__":
    unittest.main()
