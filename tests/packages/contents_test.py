"""What is in the Debian packages, and what they say of themselves."""
import pathlib
import re
import shutil
import tempfile
import unittest

from farvec_tool import BIN
from packages_tool import (DAEMONS, EXTENSION, NAMES, ROOT, made, needs_dpkg, output,
                           project_version, run)

# What has to be in each, besides the documents that all have.
HELD = {
    "farvec": ("usr/bin/farvec", "usr/share/bash-completion/completions/farvec",
               "usr/share/zsh/site-functions/_farvec",
               "usr/share/fish/vendor_completions.d/farvec.fish", "usr/share/man/man1/farvec.1.gz",
               "usr/share/man/man1/farvec-build-graph.1.gz",
               "usr/share/doc/farvec/examples/launch.toml",
               "usr/share/doc/farvec/chart.js.copyright"),
    **{name: (f"usr/bin/{name}", f"lib/systemd/system/{name}.service",
              f"etc/farvec/{name.removeprefix('farvec-')}.conf",
              f"usr/share/bash-completion/completions/{name}",
              f"usr/share/fish/vendor_completions.d/{name}.fish",
              f"usr/share/man/man1/{name}.1.gz") for name in DAEMONS},
    "libfarvec-dev": ("usr/lib/libfarvec_base.a", "usr/lib/cmake/farvec/farvecConfig.cmake",
                      "usr/include/farvec/graph/node_source.h",
                      "usr/include/farvec/rpc/compute_node.pb.h", "usr/include/farvec.h",
                      "usr/lib/libfarvec.so", "usr/lib/pkgconfig/farvec.pc"),
    "libfarvec0": ("usr/lib/libfarvec.so.0",),
    EXTENSION: tuple(f"usr/{path}" for major in [(EXTENSION or "--").split("-")[1]] for path in (
        f"lib/postgresql/{major}/lib/farvec.so",
        f"lib/postgresql/{major}/lib/farvec-postgres-engine",
        f"lib/postgresql/{major}/lib/farvec-postgres-engine",
        f"share/postgresql/{major}/extension/farvec.control",
        f"share/postgresql/{major}/extension/farvec--0.1.sql")),
}
LIBRARY = {"farvec": "libhdf5", "farvec-memory-node": "libpmem2",
           "farvec-compute-node": "libgrpc++", "libfarvec-dev": "libgrpc++-dev",
           "libfarvec0": "libgrpc++", EXTENSION: "libfarvec0"}


def files_of(name):
    """{path: (mode, owner)} of what is no folder."""
    listed = output("dpkg-deb", "--contents", made(name)).splitlines()
    lines = [line.split(None, 5) for line in listed]
    return {line[5].partition(" -> ")[0].removeprefix("./"): (line[0], line[1])
            for line in lines if not line[0].startswith("d")}


def field(name, key):
    return output("dpkg-deb", "--field", made(name), key).strip()


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        needs_dpkg()
        folder = tempfile.TemporaryDirectory(prefix="farvec-packages-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name in NAMES:
            output("dpkg-deb", "--raw-extract", made(name), cls.folder / name)

    def test_fields(self):
        for name in NAMES:
            with self.subTest(name):
                self.assertEqual(field(name, "Package"), name)
                self.assertEqual(field(name, "Version"), project_version())
                self.assertRegex(field(name, "Maintainer"), r"^[^<]+ <[^@]+@[^>]+>$")
                self.assertGreater(int(field(name, "Installed-Size")), 100)
                summary, _, more = field(name, "Description").partition("\n")
                self.assertLess(len(summary), 80)
                self.assertGreater(len(more), 80)
                self.assertIn(LIBRARY[name], field(name, "Depends"))
        for name in DAEMONS:
            for needed in ("adduser", "libfabric1"):
                self.assertIn(needed, field(name, "Depends"))

    def test_files(self):
        for name in NAMES:
            with self.subTest(name):
                held = files_of(name)
                documents = f"usr/share/doc/{name}"
                for path in (*HELD[name], f"{documents}/copyright", f"{documents}/changelog.gz"):
                    self.assertIn(path, held)
                for path, (mode, owner) in held.items():
                    self.assertEqual(owner, "root/root", path)
                    runs = "/bin/" in path or path.endswith("/farvec-postgres-engine")
                    usual = "-rwxr-xr-x" if runs else "-rw-r--r--"
                    link = re.search(r"/libfarvec\.so(\.0)?$", path)
                    self.assertEqual(mode, "lrwxrwxrwx" if link else usual, path)
                    self.assertRegex(path, "^((usr/(bin|include/farvec|lib|share)|lib/systemd/system"
                                     "|etc/farvec)/|usr/include/farvec.h$)")

    def test_no_file_is_in_two(self):
        paths = [path for name in NAMES for path in files_of(name)]
        self.assertEqual(len(paths), len(set(paths)))

    def test_every_command_has_its_page(self):
        pages = {path.name for path in (BIN.parent / "shell/man1").iterdir()}
        held = {pathlib.Path(path).name for name in NAMES for path in files_of(name)}
        self.assertEqual({f"{page}.gz" for page in pages},
                         {one for one in held if one.endswith(".1.gz")})

    def test_what_is_compiled_is_stripped_and_knows_no_build_tree(self):
        programs = [self.folder / name / "usr/bin" / name for name in ("farvec", *DAEMONS)]
        if EXTENSION:
            programs += [self.folder / EXTENSION / path for path in HELD[EXTENSION][:2]]
        for program in programs:
            sections = output("readelf", "--sections", "--dynamic", program)
            self.assertNotIn(".debug_", sections)
            self.assertNotRegex(sections, "RPATH|RUNPATH")
        library = self.folder / "libfarvec-dev/usr/lib/libfarvec_base.a"
        self.assertNotIn(".debug_", output("readelf", "--sections", library))
        for path in (self.folder / "libfarvec-dev/usr/lib/cmake").rglob("*.cmake"):
            self.assertNotIn(str(ROOT), path.read_text(), path)

    def test_checksums(self):
        for name in NAMES:
            folder = self.folder / name
            output("md5sum", "--check", "--quiet", "DEBIAN/md5sums", cwd=folder)

    def test_control_files(self):
        for name in NAMES:
            control = {path.name: path for path in (self.folder / name / "DEBIAN").iterdir()}
            scripts = {"postinst", "prerm", "postrm"} if name in DAEMONS else set()
            more = {"shlibs", "postinst", "postrm"} if name == "libfarvec0" else set()
            self.assertEqual(set(control), {"control", "md5sums"} | scripts | more
                             | ({"conffiles"} if scripts else set()))
            for script in scripts:
                self.assertEqual(control[script].stat().st_mode & 0o777, 0o755)
                self.assertNotIn("@", control[script].read_text())
                output("sh", "-n", control[script])
            if scripts:
                config = f"/etc/farvec/{name.removeprefix('farvec-')}.conf"
                self.assertEqual(control["conffiles"].read_text(), f"{config}\n")

    def test_the_configuration_is_the_one_that_is_tested(self):
        """tests/tool/config_files_test.py holds it against the daemons."""
        for name in DAEMONS:
            config = pathlib.Path(HELD[name][2])
            self.assertEqual((self.folder / name / config).read_bytes(),
                             (ROOT / "scripts/packages" / config.name).read_bytes())

    def test_lintian_is_content(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not here")
        files = [made(name) for name in NAMES]
        done = run("lintian", "--fail-on", "error,warning", "--allow-root", *files)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
