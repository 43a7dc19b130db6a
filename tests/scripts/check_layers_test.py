import re
import sys
import unittest

from folder_case import ROOT, FolderCase

sys.path.insert(0, str(ROOT / "scripts"))
import check_layers  # noqa: E402  (found there)


class CheckLayers(FolderCase):
    SCRIPT = ROOT / "scripts" / "check_layers.py"

    def setUp(self):
        super().setUp()
        self.write("base/types.h", "#pragma once\n")
        self.write("layout/page.h", '#include "base/types.h"\n#include <vector>\n')

    def assert_refused(self, message):
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertIn(message, result.stderr)

    def test_accepts_the_table(self):
        self.write("cli/main.cc", '#include "layout/page.h"\n')
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_refuses_a_forbidden_room_with_file_and_line(self):
        self.write("transport/mapped/pool.cc", '\n#include "layout/page.h"\n')
        self.assert_refused("transport/mapped/pool.cc:2: transport may not include layout")

    def test_nobody_includes_the_tests(self):
        self.write("tests/helper.h", "")
        self.write("base/error.cc", '#include "tests/helper.h"\n')
        self.assert_refused("base/error.cc:1: base may not include tests")

    def test_refuses_a_path_that_does_not_start_at_the_root(self):
        self.write("base/error.cc", '#include "types.h"\n')
        self.assert_refused("base/error.cc:1: \"types.h\" is not a path from the root")

    def test_refuses_angle_brackets_around_own_headers(self):
        self.write("base/error.cc", "#include <base/types.h>\n")
        self.assert_refused("include it with quotes")

    def test_one_file_includes_what_is_slow_to_compile(self):
        self.write("base/command_line.cc", "#include <CLI/CLI.hpp>\n")
        self.assertEqual(self.run_script().returncode, 0)
        self.write("cli/main.cc", "#include <CLI/App.hpp>\n")
        self.assert_refused('cli/main.cc:1: <CLI/App.hpp> is for base/command_line.cc alone')

    def test_refuses_a_header_that_is_not_there(self):
        self.write("base/error.cc", '#include "base/gone.h"\n')
        self.assert_refused('"base/gone.h" does not exist')

    def test_refuses_ways_around_the_table(self):
        self.write("graph/graph.h", "")
        self.write("base/types.inc", '#include "graph/graph.h"\n')
        self.write("dataset/a.cc", '#include "base/../graph/graph.h"\n')
        self.assert_refused('goes through')
        self.write("dataset/a.cc", '#include "base/types.inc"\n')
        self.assert_refused('suffix')

    def test_refuses_folders_in_a_circle(self):
        self.write("layout/graph/record.h", '#include "layout/index/part.h"\n')
        self.write("layout/index/part.h", "")
        self.assertEqual(self.run_script().returncode, 0)
        self.write("layout/index/manifest.cc", '\n#include "layout/graph/record.h"\n')
        self.assert_refused(
            'layout/graph: folders in a circle, layout/graph -> layout/index -> layout/graph: '
            'layout/graph/record.h:1 includes "layout/index/part.h"; '
            'layout/index/manifest.cc:2 includes "layout/graph/record.h"')
        self.assertEqual(self.run_script().stderr.count("circle"), 1)

    def test_refuses_a_circle_over_two_rooms(self):
        self.write("cli/a/a.h", '#include "bench/b/b.h"\n')
        self.write("bench/b/b.h", '#include "cli/c/c.h"\n')
        self.write("cli/c/c.h", '#include "cli/a/a.h"\n')
        self.assert_refused("bench/b -> cli/c -> cli/a -> bench/b")

    def test_a_folder_and_what_lies_in_it_are_no_circle(self):
        self.write("layout/index/part.h", '#include "layout/page.h"\n')
        self.write("layout/page.h", '#include "layout/index/part.h"\n')
        self.write("layout/indexes/all.h", '#include "layout/index/part.h"\n')
        self.assertEqual(self.run_script().returncode, 0)
        self.write("layout/index/part.h", '#include "layout/indexes/all.h"\n')
        self.assert_refused("layout/index -> layout/indexes -> layout/index")

    def test_accepts_unit_tests_beside_what_they_test(self):
        self.write("layout/slotted/page_map.h", "")
        for path in ["layout/page_test.cc", "layout/page_edges_test.cc",
                     "layout/slotted/page_map_test.cc", "layout/scenarios/crash_test.cc",
                     "layout/fixture.cc"]:
            self.write(f"tests/unit/{path}", "")
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_refuses_a_unit_test_of_nothing(self):
        self.write("layout/slotted/map.h", "")
        self.write("tests/unit/layout/map_test.cc", "")
        self.assert_refused("tests/unit/layout/map_test.cc: there is no layout/map.h")

    def test_refuses_a_unit_test_outside_of_rooms(self):
        self.write("tests/unit/pages/page_test.cc", "")
        self.write("tests/unit/loose_test.cc", "")
        self.assert_refused("pages is not a room")
        self.assert_refused("loose_test.cc is not a room")

    def test_a_room_may_have_two_words(self):
        self.write("ssd_baseline/slotted/pool/pool.h", '#include "layout/page.h"\n')
        self.write("ssd_baseline/paged/store.h",
                   '#include "ssd_baseline/slotted/pool/pool.h"\n')
        self.write("tests/unit/ssd_baseline/slotted/pool/pool_test.cc", "")
        self.write("tests/unit/ssd_baseline/slotted/scenarios/threads_test.cc", "")
        self.assertEqual(self.run_script().returncode, 0)
        self.write("ssd_baseline/slotted/pool/pool.h", '#include "ssd_baseline/paged/store.h"\n')
        self.assert_refused("ssd_baseline/slotted may not include ssd_baseline/paged")

    def test_a_file_between_two_rooms_is_in_none(self):
        self.write("ssd_baseline/codes.h", "")
        self.write("search/core.h", '#include "ssd_baseline/codes.h"\n')
        self.assert_refused('search/core.h:1: "ssd_baseline/codes.h" is not a path from the root')
        self.write("tests/unit/ssd_baseline/codes_test.cc", "")
        self.assert_refused("codes_test.cc: ssd_baseline is not a room")

    def test_refuses_a_name_that_two_files_of_a_folder_have(self):
        self.write("disk/queue.cc", "namespace {\nconstexpr std::chrono::milliseconds kLook{2};\n}\n")
        self.write("disk/load.cc", "namespace {\nclass Queue;\nclass Waits : Wait {\n};\n}\n")
        self.write("disk/other/load.cc", "namespace {\nconstexpr int kLook = 2;\n}\n")
        self.assertEqual(self.run_script().stderr, "")
        self.write("disk/reads.cc", "namespace {\nconstexpr auto kLook = 2s;\nclass Waits final {\n}\n")
        self.assert_refused("disk/reads.cc:2: disk/queue.cc has a kLook too")
        self.assert_refused("disk/reads.cc:3: disk/load.cc has a Waits too")

    def test_refuses_a_function_that_two_files_of_a_folder_have(self):
        self.write("disk/queue.cc", "int sum_of(int a) {\n  if (a > 2) {\n  }\n}\n")
        self.write("disk/load.cc", "int sum_of(long a) {\n  if (a > 2) {\n  }\n}\nint Load::go(int a) {\n}\n")
        self.write("disk/other/load.cc", "int sum_of(int a) {\n}\nint Other::go(int a) {\n}\n")
        self.assertEqual(self.run_script().stderr, "")
        self.write("disk/reads.cc", "const int* sum_of(int a) {\n}\n")
        self.assert_refused("disk/reads.cc:1: disk/queue.cc has a sum_of(int a) too")

    def test_says_when_the_folder_is_not_the_project(self):
        self.assertEqual(self.run_script("/usr").returncode, 2)

    def test_the_table_is_the_one_of_the_page(self):
        """docs/architecture.md: | `room/` | what | base, layout |, with a dash for none."""
        page = (ROOT / "docs/architecture.md").read_text()
        said = {}
        for rooms, column in re.findall(r"^\| (`[^|]*/`) \|.*\| ([^|]*) \|$", page, re.MULTILINE):
            for room in re.findall(r"([\w/]+)/", rooms):
                said[room] = set(re.findall(r"[\w/]+", column))
        self.assertEqual({room for room, may in said.items() if may == {"anything"}},
                         check_layers.FREE | {"docs", "scripts"})
        self.assertEqual({room: may for room, may in said.items() if may != {"anything"}},
                         check_layers.MAY_INCLUDE)

    def test_the_project_itself_passes(self):
        result = self.run_script(ROOT)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
