#!/usr/bin/env python3
"""Makes vectors of photographs: histograms of oriented gradients, 576 f32, without duplicates.

Example:
    scripts/datasets/hog.py --rows 300000 --out FOLDER photographs/*.jpg

A vector tells of a window of 40 x 40 pixels: 4 x 4 blocks of 2 x 2 cells of 8 x 8 pixels, nine
directions each (OpenCV's HOGDescriptor with the values of Dalal and Triggs). Every tenth photograph
is kept for the queries: none of its windows is in the base. A photograph is looked at in five
sizes, each half as large in area; flat windows are left out. All photographs give about as many.
The same files, options and versions of OpenCV and numpy give the same bytes on every processor with
AVX2; on older ones the last bits are rounded otherwise.

Writes base.fbin, query.fbin and made.json (what was made of what) into FOLDER, each under its name
when it is complete; and held.fbin (rows of the photographs of the base, which are not in it) and
attributes of all of these (tagging.py). Interrupted, the same command goes on: the vectors of finished
photographs are kept in FOLDER/parts-... until the end. Takes memory of twice the base.
"""
import sys

import photographs

CELL = 8  # pixels; a block is 2 x 2 cells, the next begins a cell further
DIRECTIONS = 9
WINDOW = 5 * CELL  # the side
DIMENSION = (WINDOW // CELL - 1)**2 * 4 * DIRECTIONS


def describe(grey, points):
    hog = photographs.cv2.HOGDescriptor((WINDOW, WINDOW), (2 * CELL, 2 * CELL), (CELL, CELL),
                                        (CELL, CELL), DIRECTIONS)
    corners = [(int(x) - WINDOW // 2, int(y) - WINDOW // 2) for x, y in points]
    return hog.compute(grey, locations=corners).reshape(-1, DIMENSION)


HOG = photographs.Descriptor(name=f"HOG, windows of {WINDOW} pixels", dimension=DIMENSION,
                             suffix=".fbin", margin=WINDOW // 2, box=WINDOW, describe=describe,
                             rows=300_000, step=4)

if __name__ == "__main__":
    sys.exit(photographs.main(HOG, __doc__, sys.argv[1:]))
