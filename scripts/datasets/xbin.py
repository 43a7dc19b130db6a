"""Files of the big-ann kind (u32 rows, u32 dimension, rows), and their sums."""
import hashlib
import os
import pathlib

import numpy as np

SUFFIXES = {".fbin": np.float32, ".u8bin": np.uint8, ".i8bin": np.int8}


def write_rows(path, shape, blocks):
    """Writes blocks of rows; the file has its name when it is complete."""
    path = pathlib.Path(path)
    partial = path.with_name(path.name + ".partial")
    written = 0
    with open(partial, "wb") as file:
        np.asarray(shape, "<u4").tofile(file)
        for block in blocks:
            np.ascontiguousarray(block, SUFFIXES[path.suffix]).tofile(file)
            written += len(block)
        file.flush()
        os.fsync(file.fileno())
    if written != shape[0]:
        partial.unlink()
        raise ValueError(f"{path}: {written} rows written, {shape[0]} promised")
    partial.rename(path)


def saved_rows(path):
    """How many rows a file has that append_rows() writes. Bytes after them are not yet rows."""
    path = pathlib.Path(path)
    count, dimension = ([0, 0] + np.fromfile(path, "<u4", 2).tolist())[-2:]
    expected = 8 + count * dimension * np.dtype(SUFFIXES[path.suffix]).itemsize
    if dimension == 0 or path.stat().st_size < expected:
        raise ValueError(f"{path}: not {count} rows of {dimension}: {path.stat().st_size} bytes")
    return count


def append_rows(path, block):
    """Adds rows to a file, or begins it. The header counts them when they are on the disk: after a
    kill the file has what it had before, or these rows as well."""
    path = pathlib.Path(path)
    block = np.ascontiguousarray(block, SUFFIXES[path.suffix])
    if not path.exists():
        write_rows(path, (0, block.shape[1]), [])
    with open(path, "r+b") as file:
        count, dimension = np.fromfile(file, "<u4", 2).tolist()
        if dimension != block.shape[1]:
            raise ValueError(f"{path}: rows of {dimension}, and not of {block.shape[1]}")
        file.seek(8 + count * dimension * block.itemsize)
        file.truncate()
        file.write(block.tobytes())
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        file.write(np.asarray([count + len(block), dimension], "<u4").tobytes())
        file.flush()
        os.fsync(file.fileno())


def write_array(path, array):
    """Writes an array in numpy's format; the file has its name when it is complete."""
    path = pathlib.Path(path)
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb") as file:
        np.save(file, array, allow_pickle=False)
    partial.rename(path)


def write_neighbours(path, ids, distances):
    """Writes u32 ids and f32 distances, as gt100.ibin has them."""
    path = pathlib.Path(path)
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb") as file:
        np.asarray(ids.shape, "<u4").tofile(file)
        np.ascontiguousarray(ids, "<u4").tofile(file)
        np.ascontiguousarray(distances, "<f4").tofile(file)
    partial.rename(path)


def write_text(path, text):
    write_texts(path, [text])


def write_texts(path, texts):
    path = pathlib.Path(path)
    partial = path.with_name(path.name + ".partial")
    with open(partial, "w", encoding="utf-8") as file:
        file.writelines(texts)
    partial.rename(path)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def map_rows(path):
    """Rows of a file, mapped; its length must be what its header says."""
    path = pathlib.Path(path)
    element_type = SUFFIXES.get(path.suffix)
    if element_type is None:
        raise ValueError(f"{path}: expected one of {', '.join(SUFFIXES)}")
    count, dimension = ([0, 0] + np.fromfile(path, "<u4", 2).tolist())[-2:]
    expected = 8 + count * dimension * np.dtype(element_type).itemsize
    if count * dimension == 0 or path.stat().st_size != expected:
        raise ValueError(f"{path}: not {count} rows of {dimension}: {path.stat().st_size} bytes")
    return np.memmap(path, element_type, "r", 8, (count, dimension))
