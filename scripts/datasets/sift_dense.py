#!/usr/bin/env python3
"""Makes vectors of photographs: dense SIFT descriptors, 128 u8, without duplicates, shuffled.

Example:
    scripts/datasets/sift_dense.py --rows 1000000 --out FOLDER photographs/*.jpg

Every tenth photograph is kept for the queries: none of its descriptors is in the base. A photograph
is looked at in five sizes, each half as large in area; a descriptor covers about 30 pixels, and
flat patches have none. All photographs give about as many. The same files, options and versions of
OpenCV and numpy give the same bytes.

Writes base.u8bin, query.u8bin and made.json (what was made of what) into FOLDER, each under its
name when it is complete; and held.u8bin (rows of the photographs of the base, which are not in it) and
attributes of all of these (tagging.py). Interrupted, the same command goes on: the descriptors of finished
photographs are kept in FOLDER/parts-... until the end. Takes 30 to 80 us per row on two cores, and
memory of twice the base.
"""
import sys

import numpy as np

import photographs

KEYPOINT_SIZE = 4.0  # gives bins of 6 pixels


def describe(grey, points):
    points = [photographs.cv2.KeyPoint(float(x), float(y), KEYPOINT_SIZE, 0.0) for x, y in points]
    return photographs.cv2.SIFT_create().compute(grey, points)[1].astype(np.uint8)


SIFT = photographs.Descriptor(name="SIFT, bins of 6 pixels", dimension=128, suffix=".u8bin",
                              margin=20, box=24, describe=describe, rows=10_000_000, step=3)

if __name__ == "__main__":
    sys.exit(photographs.main(SIFT, __doc__, sys.argv[1:]))
