"""Where the output cannot go: nothing that was there is lost, nothing half-made is left."""
import resource
import unittest

from farvec_tool import ToolTest, farvec, write_vectors


def limit_files(size):
    """Every write beyond `size` fails, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class BadOutput(ToolTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(500))

    def test_full_disk_while_building(self):
        for size in (0, 6000, 20_000):
            with self.subTest(size=size):
                result = self.build(self.base, preexec_fn=limit_files(size))
                self.must_refuse(result, str(self.folder / "index"), "needs", "bytes")
                self.assertEqual([path.name for path in self.folder.iterdir()], ["base.u8bin"])

    def test_full_disk_while_replacing_keeps_the_old_index(self):
        self.must_pass(self.build(self.base))
        before = (self.folder / "index" / "manifest.json").read_bytes()
        self.must_refuse(self.build(self.base, "--overwrite", "--seed", 2,
                                    preexec_fn=limit_files(6000)), "needs")
        self.assertEqual((self.folder / "index" / "manifest.json").read_bytes(), before)
        self.must_pass(farvec("inspect", self.folder / "index", "--verify"))

    def test_full_disk_while_converting(self):
        self.must_refuse(farvec("dataset", "convert", self.base, self.folder / "out.fbin",
                                "--quiet", preexec_fn=limit_files(6000)), "out.fbin", "bytes")
        self.assertFalse((self.folder / "out.fbin").exists())

    def test_existing_index_is_kept(self):
        self.must_pass(self.build(self.base))
        self.must_refuse(self.build(self.base), "exists", "--overwrite")
        self.must_pass(self.build(self.base, "--overwrite"))

    def test_what_is_not_an_index_is_never_replaced(self):
        (self.folder / "index").mkdir()
        (self.folder / "index" / "thesis.txt").write_text("mine")
        self.must_refuse(self.build(self.base, "--overwrite"), "index")
        self.assertEqual((self.folder / "index" / "thesis.txt").read_text(), "mine")

    def test_destination_is_checked_before_the_graph_is_built(self):
        result = self.must_refuse(self.build(self.base, out="none/index"), "none")
        self.assertNotIn("building", result.stderr)

    def test_a_trailing_slash_names_the_same_index(self):
        for options in ((), ("--overwrite",)):
            self.must_pass(self.build(self.base, *options, out="index/"))
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                             ["base.u8bin", "index"])
            self.must_pass(farvec("inspect", self.folder / "index", "--verify"))

    def test_outputs_are_tried_before_the_work(self):
        for name in ("none/gt.ibin", "gt.hdf5:neighbors", "gt.txt"):
            self.must_refuse(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                                    self.base, "--metric", "l2", "--k", 3, "--out",
                                    self.folder / name), name.split("/")[-1].split(":")[0])
        self.must_pass(self.build(self.base))
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries", self.base,
                                "--out", self.folder / "found.txt"), "found.txt")

    def test_bad_options(self):
        self.must_refuse(self.build(self.base, "--code-bits", 9), "--code-bits", "1 to 8")
        self.must_refuse(self.build(self.base, "--layout", "inline", "--code-bits", 5),
                         "--code-bits 5", "1 to 4")
        self.must_refuse(self.build(self.base, "--layout", "tape"), "tape", "inline", "padded")
        self.must_refuse(self.build(self.base, metric="l7"), "l7", "cosine")
        self.must_refuse(self.build(self.base, "--degree", 0), "degree")
        self.must_refuse(self.build(self.base, "--alpha", 0.5), "alpha")


class FrontDoor(ToolTest):
    def test_every_command_has_an_example(self):
        for command in (["build", "graph"], ["inspect"], ["search"], ["sweep"], ["dataset", "info"],
                        ["dataset", "convert"], ["dataset", "sample"], ["dataset", "groundtruth"]):
            with self.subTest(" ".join(command)):
                text = self.must_pass(farvec(*command, "--help")).stdout
                self.assertIn("Example", text)
                self.assertIn("farvec " + " ".join(command), text)

    def test_unknown_commands_and_options(self):
        self.must_refuse(farvec("serch"), "serch")
        self.must_refuse(farvec("search", "--kk", 3), "--")
        self.assertEqual(farvec().returncode, 2)

    def test_version(self):
        self.assertRegex(self.must_pass(farvec("--version")).stdout, r"^farvec \d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
