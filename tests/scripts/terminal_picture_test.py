"""scripts/docs/terminal_picture.py: what a terminal shows, as a picture."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import matplotlib
matplotlib.use("Agg")
from matplotlib import image  # noqa: E402

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "docs"
sys.path.insert(0, str(SCRIPTS))
import terminal_picture  # noqa: E402


def pieces(*lines, theme=terminal_picture.LIGHT):
    return list(terminal_picture.runs(lines, theme))


class Pieces(unittest.TestCase):
    def test_plain_lines(self):
        text = terminal_picture.LIGHT["text"]
        self.assertEqual(pieces("ab", "", " c"), [(0, 0, "ab", (text, None, "normal")),
                                                  (2, 0, " c", (text, None, "normal"))])

    def test_colours_stay_until_they_are_changed(self):
        colours, text = terminal_picture.LIGHT["colours"], terminal_picture.LIGHT["text"]
        found = pieces("a\x1b[1;31mb", "c\x1b[0md\x1b[92;44me\x1b[39;49mf")
        self.assertEqual([(row, column, piece) for row, column, piece, _ in found],
                         [(0, 0, "a"), (0, 1, "b"), (1, 0, "c"), (1, 1, "d"), (1, 2, "e"), (1, 3, "f")])
        self.assertEqual([paint for *_, paint in found],
                         [(text, None, "normal"), (colours[1], None, "bold"), (colours[1], None, "bold"),
                          (text, None, "normal"), (colours[10], colours[4], "normal"),
                          (text, None, "normal")])

    def test_inverse_and_what_is_not_known(self):
        theme = terminal_picture.DARK
        found = pieces("\x1b[7ma\x1b[27mb\x1b[?25l\x1b[2Kc", theme=theme)
        self.assertEqual(found[0][3], (theme["ground"], theme["text"], "normal"))
        self.assertEqual([(column, piece) for _, column, piece, _ in found],
                         [(0, "a"), (1, "b"), (2, "c")])


class Picture(unittest.TestCase):
    def draw(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "shown.png"
            done = subprocess.run([SCRIPTS / "terminal_picture.py", "--out", out, *options], input=text,
                                  text=True, capture_output=True, timeout=100, check=False)
            return done, image.imread(out) if out.exists() else None

    def test_light_dark_and_narrow(self):
        text = "node  state\nc0 $x$ \x1b[32mserving\x1b[0m\n\n\n"
        light, dark, wide = (self.draw(text, *options)[1] for options in ((), ("--dark",), ("--columns", "40")))
        self.assertGreater(light[0, 0, :3].min(), 0.9)
        self.assertLess(dark[0, 0, :3].max(), 0.2)
        self.assertEqual(light.shape, dark.shape)
        self.assertEqual(light.shape[0], wide.shape[0])
        self.assertGreater(wide.shape[1], 2 * light.shape[1])
        for picture in (light, dark):  # something is written
            self.assertGreater(picture[..., :3].std(), 0.05)

    def test_nothing(self):
        done, picture = self.draw("\n \n")
        self.assertEqual((done.returncode, picture), (1, None))
        self.assertIn("nothing to draw", done.stderr)


if __name__ == "__main__":
    unittest.main()
