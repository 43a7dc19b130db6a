#!/usr/bin/env python3
"""Vectors of sentences by a sentence model; goes on where it stopped.

Reads FILE, JSON lines with a `sentence` each, and writes one row of floats, of length one, for each of
the first --rows lines. Rows are saved a thousand at a time into the file's name with `.partial.fbin`
at its end (base.fbin: base.partial.fbin), whose header counts the rows that are saved: it can be read at
any time. It gets its own name when it has all rows. The same command with more --rows adds to it.

What the rows are made of is beside them (base.made.json): rows of other sentences, of another model or
of another length are not added to. Sums of the rows would say little, as their last bits differ between
processors. --reference has sentences and vectors instead: where this machine finds a cosine below 0.999
with one of them, nothing is written.

Example:
    scripts/datasets/embed_sentences.py sentences.jsonl --model FOLDER --rows 200000 --out base.fbin
"""
import argparse
import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the threads are ours; before numpy is loaded
import numpy as np

import xbin

BLOCK = 1_000
LEAST_COSINE = 0.999
SCALE = 10_000  # of the reference's whole numbers


def read_sentences(path, count):
    with open(path, encoding="utf-8") as lines:
        sentences = [json.loads(line)["sentence"] for line in itertools.islice(lines, count)]
    if not sentences or count and len(sentences) < count:
        raise ValueError(f"{path}: {len(sentences):,} sentences, and not {count or 1:,}")
    return sentences


def check_reference(model, path):
    """The lowest cosine between what the file has and what this machine computes."""
    reference = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    expected = np.asarray(reference["vectors"], np.float64) / SCALE
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    made = model.embed(reference["sentences"])
    if made.shape != expected.shape:
        raise ValueError(f"{path}: vectors of {expected.shape[1]}, and the model makes some of {made.shape[1]}")
    lowest = float((made * expected).sum(axis=1).min())
    if not lowest >= LEAST_COSINE:
        raise ValueError(f"{path}: a cosine of {lowest:.4f} with the vectors it has, and not {LEAST_COSINE}: "
                         "another model, or a processor that computes something else")
    return lowest


@contextlib.contextmanager
def alone_in(folder):
    """No two processes write rows of one folder."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise ValueError(f"{folder}: another process is writing rows there; wait for it, or end it") from None
    finally:
        os.close(descriptor)


def rows_so_far(out, partial, made, wanted):
    """How many rows are saved. They have to be of what `made` says; `partial` has them afterwards."""
    note = out.with_suffix(".made.json")
    saved = next((path for path in (partial, out) if path.exists()), None)
    if saved is None:
        xbin.write_text(note, json.dumps(made, indent=1) + "\n")
        return 0
    if not note.exists() or json.loads(note.read_text()) != made:
        raise ValueError(f"{saved}: {note.name} does not say that its rows are of these sentences, this "
                         "model and this length: remove both, or take another folder")
    done = xbin.saved_rows(saved)
    if done > wanted:
        raise ValueError(f"{saved}: it has {done:,} rows already, and not {wanted:,}; "
                         "`farvec dataset sample --first N` takes the first N of them")
    saved.rename(partial)
    return done


def add_rows(partial, sentences, done, model, options):
    """Embeds the sentences from number `done` on."""
    began, before = time.monotonic(), done
    while done < len(sentences):
        block = model.embed(sentences[done:done + BLOCK], threads=options.threads)
        xbin.append_rows(partial, block)
        done += len(block)
        rate = (done - before) / (time.monotonic() - began)
        print(f"{partial.name}: {done:,} of {len(sentences):,} rows, {rate:.1f} a second", file=sys.stderr)


def make(options):
    import sentence_model  # wants packages that the rest does not

    out = pathlib.Path(options.out)
    if out.suffix != ".fbin":
        raise ValueError(f"{out}: its name has to end with .fbin")
    sentences = read_sentences(options.sentences, options.rows)
    made = {"sentences": xbin.sha256(options.sentences), "longest": options.longest,
            "model": xbin.sha256(pathlib.Path(options.model) / "model.safetensors")}
    model = sentence_model.SentenceModel(options.model, options.longest)
    if options.reference:
        print(f"lowest cosine with the reference {check_reference(model, options.reference):.6f}",
              file=sys.stderr)
    partial = out.with_suffix(".partial.fbin")
    with alone_in(out.parent):
        done = rows_so_far(out, partial, made, len(sentences))
        add_rows(partial, sentences, done, model, options)
        partial.rename(out)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", help="JSON lines with a `sentence` each")
    parser.add_argument("--model", required=True, help="folder of all-mpnet-base-v2 or all-MiniLM-L6-v2")
    parser.add_argument("--out", required=True, help="the file of rows, .fbin")
    parser.add_argument("--rows", type=int, help="how many of the first sentences [all]")
    parser.add_argument("--longest", type=int, default=48, help="tokens of a sentence [48]")
    parser.add_argument("--reference", help="sentences and vectors to compare with")
    parser.add_argument("--threads", type=int, help="[as many as processors]")
    try:
        make(parser.parse_args(arguments))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
