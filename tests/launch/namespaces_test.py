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


def isolate(test, network=NETWORK):
    """A namespace for each node of the test's file, and certificates; the tool's options for these."""
    test.tables["local"] = {"bridge": BRIDGE, "bridge_address": f"{network}.254/24"}
    for place, node in enumerate(test.tables["[node]"], start=1):
        node |= {"host": f"{network}.{place}", "netns": True}
    certificates = test.folder / "certs"
    hosts = [word for node in test.tables["[node]"] for word in ("--host", node["host"])]
    subprocess.run([ROOT / "scripts/tls/make-certs.sh", certificates, *hosts], check=True,
                   capture_output=True, timeout=60)
    test.tables["tls"] = {"directory": str(certificates)}
    return ["--tls-cert", certificates / "client.crt", "--tls-key", certificates / "client.key",
            "--tls-ca", certificates / "ca.crt"]


class Namespaces(LaunchTest):
    def setUp(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        super().setUp()
        isolate(self)

    def test_up_sweep_down(self):
        self.up_sweep_down()
        names = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True,
                               timeout=20).stdout
        self.assertNotIn("farvec-test-", names)
        self.assertFalse(os.path.exists(f"/sys/class/net/{BRIDGE}"))


if __name__ == "__main__":
    unittest.main()
