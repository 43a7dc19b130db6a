"""The set text768: sentences out of lists and pages, the sentence models, and rows that go on."""
import fcntl
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "datasets"
PYTHON = "/usr/bin/python3"
sys.path.insert(0, str(SCRIPTS))

# Stands for the packages safetensors and tokenizers, which the distribution does not have.
SAFETENSORS = """import numpy as np
def load_file(path):
    with np.load(path) as stored:
        return dict(stored)
"""
TOKENIZERS = """class Encoding:
    def __init__(self, ids):
        self.ids = ids
class Tokenizer:
    @staticmethod
    def from_file(path):
        return Tokenizer()
    def no_padding(self):
        pass
    def enable_truncation(self, longest):
        self.longest = longest
    def encode_batch(self, texts):
        return [Encoding([0, *map(int, text.split())][:self.longest]) for text in texts]
"""
# A model whose vectors say how long a sentence is; it is killed at a sentence that says so.
MODEL = """import os
import numpy as np
class SentenceModel:
    def __init__(self, folder, longest):
        self.longest = longest
    def embed(self, sentences, told=None, threads=None):
        if "kill me" in sentences:
            os.kill(os.getpid(), 9)
        made = np.asarray([[len(text), self.longest, text.count("a")] for text in sentences], np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)
"""


def rows_of(path):
    count, dimension = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, "<f4", offset=8).reshape(count, dimension)


def json_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def run_script(self, name, *arguments):
        """The script, which finds modules in the folder first."""
        call = (f"import sys; sys.path[:0] = [{str(self.out)!r}, {str(SCRIPTS)!r}]; "
                f"import {name}; sys.exit({name}.main(sys.argv[1:]))")
        return subprocess.run([PYTHON, "-B", "-c", call, *map(str, arguments)], text=True, timeout=110,
                              capture_output=True, check=False)


class Sentences(FolderTest):
    LISTS = "".join(f"""Package: {name}{number}
Source: source{number} (1.2-{number})
Description: short text about the thing {number}
Description-md5: {name}{number}

""" for number in range(20) for name in ("lib", "tool"))
    TRANSLATIONS = "".join(f"""Package: {name}{number}
Description-md5: {name}{number}
Description-en: short text about the thing {number}
 This is what the {name} of number {number} says here. A sentence that all of the packages share.
 .
 Too short. 1 2 3 4 5 6 7 8 9 10 11 12.

""" for number in range(20) for name in ("lib", "tool"))

    def page(self, name, body, head='<html lang="en-GB">'):
        path = self.out / "pages" / "manual" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        title = "<head><title>A title that is not read.</title></head>"
        path.write_text(f"{head}{title}<body>{body}</body></html>", encoding="utf-8")

    def make(self, *arguments):
        (self.out / "Packages").write_text(self.LISTS)
        (self.out / "Translation-en").write_text(self.TRANSLATIONS)
        for number in range(20):
            self.page(f"a/{number:02}.html", f"<p>The page {number} has this sentence\n of its own. "
                      "Every page of the manual says this.</p>")
        return self.run_script("debian_sentences", self.out / "Packages", self.out / "Translation-en",
                               self.out / "pages" / "manual", "--out", self.out, *arguments)

    def test_queries_come_from_packages_and_documents_that_the_base_does_not_have(self):
        done = self.make("--queries", 10)
        self.assertEqual(done.returncode, 0, done.stderr)
        base, queries = json_lines(self.out / "sentences.jsonl"), json_lines(self.out / "query.jsonl")
        self.assertEqual(len(queries), 10)
        documents = {row["document"] for row in base if row["document"]}
        numbers = {row["package"].strip("libtool") for row in base if not row["document"]}
        described = [row for row in queries if row["document"] is None]
        self.assertEqual(len(described), 5)
        self.assertEqual(len({row["package"].strip("libtool") for row in described}), 5)
        for row in queries:
            if row["document"]:
                self.assertNotIn(row["document"], documents)
            else:
                self.assertNotIn(row["package"].strip("libtool"), numbers)
            self.assertNotIn("share", row["sentence"])
            self.assertNotIn("Every page", row["sentence"])
        # 15 sources: three sentences each, as both packages have one synopsis; 15 pages; two that all share.
        sentences = [row["sentence"] for row in base]
        self.assertEqual((len(sentences), len(set(sentences))), (15 * 3 + 15 + 2, 15 * 3 + 15 + 2))
        self.assertIn("Every page of the manual says this.", sentences)

    def test_the_order_is_fixed_and_shuffled(self):
        self.assertEqual(self.make("--queries", 4).returncode, 0)
        first = (self.out / "sentences.jsonl").read_bytes()
        self.assertEqual(self.make("--queries", 4).returncode, 0)
        self.assertEqual((self.out / "sentences.jsonl").read_bytes(), first)
        kinds = [row["document"] is None for row in json_lines(self.out / "sentences.jsonl")[:12]]
        self.assertEqual(len(set(kinds)), 2)
        self.assertEqual(self.make("--queries", 4, "--seed", 2).returncode, 0)
        self.assertNotEqual((self.out / "sentences.jsonl").read_bytes(), first)

    def test_reads_prose_alone(self):
        self.page("odd.html", """<nav><p>The way to other pages is not read.</p></nav>
            <h1>The heading of it is not prose.</h1><div>Text of a division is not read too.</div>
            <p>The first <b>sen</b>tence goes<br> over &lt;tags&gt; of this kind.
            <pre>The code is not a sentence.</pre>
            <ul><li>The item of a list is read.<p>It is followed by a paragraph.</ul>
            <p>no capital begins this one of them.<p>The end of this one is missing
            <p>Nessuna parola inglese sta qui dentro.<table><tr><td><p>The cell is not to be read.</table>
            </aside><p>The last one comes after an odd end.""")
        self.page("other.html", "<p>The language of this page is another one.</p>", '<html lang="it">')
        self.page("translations/it.html", "<p>The folder of this page says something.</p>")
        self.assertEqual(self.make("--queries", 2).returncode, 0)
        read = {row["sentence"] for row in json_lines(self.out / "sentences.jsonl")
                if row["document"] and not row["document"].startswith("a/")}
        self.assertEqual(read, {"The first sentence goes over <tags> of this kind.",
                                "The item of a list is read.", "It is followed by a paragraph.",
                                "The last one comes after an odd end."})

    def test_says_what_is_missing(self):
        self.assertIn("20 packages or documents have a sentence of their own: 20 queries cannot be made",
                      self.make("--queries", 40).stderr)
        self.LISTS = ""
        self.assertIn("0 packages or documents", self.make("--queries", 4).stderr)
        self.assertFalse((self.out / "sentences.jsonl").exists())


class Rows(FolderTest):
    def setUp(self):
        super().setUp()
        (self.out / "sentence_model.py").write_text(MODEL)
        (self.out / "model.safetensors").write_text("weights")
        self.base, self.partial = self.out / "base.fbin", self.out / "base.partial.fbin"

    def embed(self, sentences, *arguments):
        (self.out / "sentences.jsonl").write_text("".join(json.dumps({"sentence": text}) + "\n"
                                                          for text in sentences))
        return self.run_script("embed_sentences", self.out / "sentences.jsonl", "--model", self.out,
                               "--out", self.base, *arguments)

    def expected(self, sentences, longest=48):
        made = np.asarray([[len(text), longest, text.count("a")] for text in sentences], np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    SENTENCES = [f"{'a' * (number % 7)} sentence {number}" for number in range(2_500)]

    def test_all_and_one(self):
        done = self.embed(self.SENTENCES)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(rows_of(self.base), self.expected(self.SENTENCES))
        self.assertIn("2,500 of 2,500 rows", done.stderr)
        self.base.unlink()
        self.assertEqual(self.embed(self.SENTENCES, "--rows", 1, "--longest", 7).returncode, 0)
        np.testing.assert_array_equal(rows_of(self.base), self.expected(self.SENTENCES[:1], 7))

    def test_a_killed_run_goes_on(self):
        sentences = self.SENTENCES.copy()
        sentences[2_100] = "kill me"
        self.assertEqual(self.embed(sentences).returncode, -9)
        # What is saved so far can be read.
        np.testing.assert_array_equal(rows_of(self.partial), self.expected(sentences[:2_000]))
        self.assertFalse(self.base.exists())
        # A kill in the middle of a write leaves bytes that are no rows yet.
        with open(self.partial, "ab") as file:
            file.write(b"torn" * 5)
        (self.out / "sentence_model.py").write_text(MODEL.replace("kill me", "nobody"))
        done = self.embed(sentences)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("1,000 of 2,500", done.stderr)
        np.testing.assert_array_equal(rows_of(self.base), self.expected(sentences))
        self.assertFalse(self.partial.exists())

    def test_more_rows_are_added_and_fewer_refused(self):
        self.assertEqual(self.embed(self.SENTENCES, "--rows", 700).returncode, 0)
        done = self.embed(self.SENTENCES, "--rows", 900)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(rows_of(self.base), self.expected(self.SENTENCES[:900]))
        self.assertIn("has 900 rows already, and not 800; `farvec dataset sample --first N`",
                      self.embed(self.SENTENCES, "--rows", 800).stderr)
        self.assertIn("2,500 sentences, and not 2,501", self.embed(self.SENTENCES, "--rows", 2_501).stderr)
        np.testing.assert_array_equal(rows_of(self.base), self.expected(self.SENTENCES[:900]))

    def test_other_rows_are_not_added_to(self):
        self.assertEqual(self.embed(self.SENTENCES, "--rows", 5).returncode, 0)
        before = self.base.read_bytes()
        self.assertIn("does not say that its rows are of these sentences",
                      self.embed(["other", *self.SENTENCES], "--rows", 9).stderr)
        self.assertIn("this model and this length",
                      self.embed(self.SENTENCES, "--rows", 9, "--longest", 47).stderr)
        (self.out / "model.safetensors").write_text("other weights")
        self.assertIn("does not say", self.embed(self.SENTENCES, "--rows", 9).stderr)
        self.assertEqual(self.base.read_bytes(), before)

    def test_damaged_rows_and_bad_input_are_refused(self):
        self.assertEqual(self.embed(self.SENTENCES, "--rows", 5).returncode, 0)
        content = self.base.read_bytes()
        for damaged in (content[:-1], content[:6], b""):
            self.base.write_bytes(damaged)
            self.assertRegex(self.embed(self.SENTENCES, "--rows", 9).stderr, r"not \d rows of \d: \d+ bytes")
        self.assertIn("0 sentences, and not 1", self.embed([]).stderr)
        self.base = self.out / "base.npy"
        self.assertIn("has to end with .fbin", self.embed(self.SENTENCES).stderr)

    def test_a_processor_that_computes_something_else_is_refused(self):
        vectors = np.rint(self.expected(["a b a", "what"]) * 10_000)
        reference = self.out / "reference.json"
        reference.write_text(json.dumps({"sentences": ["a b a", "what"], "vectors": vectors.tolist()}))
        self.assertIn("lowest cosine with the reference 1.0000",
                      self.embed(self.SENTENCES, "--rows", 5, "--reference", reference).stderr)
        self.base.unlink()
        (self.out / "base.made.json").unlink()
        vectors[1, 2] = 10_000
        reference.write_text(json.dumps({"sentences": ["a b a", "what"], "vectors": vectors.tolist()}))
        self.assertRegex(self.embed(self.SENTENCES, "--rows", 5, "--reference", reference).stderr,
                         r"a cosine of 0\.\d+ with the vectors it has, and not 0.999")
        reference.write_text(json.dumps({"sentences": ["a b a"], "vectors": [[1, 2]]}))
        self.assertIn("vectors of 2, and the model makes some of 3",
                      self.embed(self.SENTENCES, "--rows", 5, "--reference", reference).stderr)
        self.assertEqual(list(self.out.glob("base*")), [])

    def test_one_process_writes_a_folder(self):
        descriptor = os.open(self.out, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        self.assertIn("another process is writing rows there", self.embed(self.SENTENCES, "--rows", 5).stderr)


class Model(FolderTest):
    """Small models of random weights, against a plain computation of one text at a time in doubles."""

    WIDTH, INNER, HEADS, LAYERS, WORDS, LONGEST = 24, 40, 3, 2, 50, 60

    def setUp(self):
        super().setUp()
        (self.out / "safetensors").mkdir()
        (self.out / "safetensors" / "__init__.py").write_text("")
        (self.out / "safetensors" / "numpy.py").write_text(SAFETENSORS)
        (self.out / "tokenizers.py").write_text(TOKENIZERS)
        self.random = np.random.default_rng(1)

    def write_model(self, kind):
        names = (["attention.self.query", "attention.self.key", "attention.self.value",
                  "attention.output.dense", "attention.output.LayerNorm"] if kind == "bert" else
                 ["attention.attn.q", "attention.attn.k", "attention.attn.v",
                  "attention.attn.o", "attention.LayerNorm"])
        shapes = {"embeddings.word_embeddings.weight": (self.WORDS, self.WIDTH),
                  "embeddings.position_embeddings.weight": (self.LONGEST + 2, self.WIDTH)}
        if kind == "bert":
            shapes["embeddings.token_type_embeddings.weight"] = (2, self.WIDTH)
        else:
            shapes["encoder.relative_attention_bias.weight"] = (32, self.HEADS)
        norms = ["embeddings.LayerNorm"]
        for layer in range(self.LAYERS):
            prefix = f"encoder.layer.{layer}."
            norms += [prefix + names[4], prefix + "output.LayerNorm"]
            for name, rows, columns in [*((name, self.WIDTH, self.WIDTH) for name in names[:4]),
                                        ("intermediate.dense", self.INNER, self.WIDTH),
                                        ("output.dense", self.WIDTH, self.INNER)]:
                shapes |= {f"{prefix}{name}.weight": (rows, columns), f"{prefix}{name}.bias": (rows,)}
        for norm in norms:
            shapes |= {norm + ".weight": (self.WIDTH,), norm + ".bias": (self.WIDTH,)}
        weights = {name: self.random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
        with open(self.out / "model.safetensors", "wb") as file:
            np.savez(file, **weights)
        (self.out / "config.json").write_text(json.dumps({
            "model_type": kind, "hidden_size": self.WIDTH, "num_hidden_layers": self.LAYERS,
            "num_attention_heads": self.HEADS, "layer_norm_eps": 1e-5}))
        return {name: weight.astype(np.float64) for name, weight in weights.items()}, names

    def load(self, longest, then=""):
        """Loads the model in a process whose packages are the ones above."""
        code = (f"import sys; sys.path[:0] = [{str(self.out)!r}, {str(SCRIPTS)!r}]\n"
                "import json, numpy, sentence_model\n"
                "sentence_model.BATCH_TOKENS = 150\n"
                f"model = sentence_model.SentenceModel('.', {longest})\n")
        return subprocess.run([PYTHON, "-B", "-c", code + then], text=True, timeout=110, cwd=self.out,
                              capture_output=True, check=False)

    def embed(self, texts, longest, threads):
        (self.out / "texts.json").write_text(json.dumps(texts))
        done = self.load(longest, "numpy.save('made.npy', model.embed(json.load(open('texts.json')), "
                                  f"threads={threads}))")
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(self.out / "made.npy")

    def bias(self, weights, here, there):
        """The bias of a token at `here` that looks at `there`: 8 near buckets of either side, 8 far ones."""
        apart = abs(here - there)
        bucket = apart if apart < 8 else min(15, 8 + int(math.log(apart / 8) / math.log(16) * 8))
        return weights["encoder.relative_attention_bias.weight"][bucket + (16 if there > here else 0)]

    def plain(self, kind, weights, names, ids):
        def normal(x, name):
            x = x - x.mean(axis=1, keepdims=True)
            x = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)
            return x * weights[name + ".weight"] + weights[name + ".bias"]

        def dense(x, name):
            return x @ weights[name + ".weight"].T + weights[name + ".bias"]

        first = 0 if kind == "bert" else 2
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][first:first + len(ids)]
        if kind == "bert":
            x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = normal(x, "embeddings.LayerNorm")
        size = self.WIDTH // self.HEADS
        for layer in range(self.LAYERS):
            prefix = f"encoder.layer.{layer}."
            query, key, value = (dense(x, prefix + name) for name in names[:3])
            attended = np.zeros_like(x)
            for head in range(self.HEADS):
                part = slice(head * size, (head + 1) * size)
                for here in range(len(ids)):
                    scores = query[here, part] @ key[:, part].T / math.sqrt(size)
                    if kind == "mpnet":
                        scores = scores + [self.bias(weights, here, there)[head] for there in range(len(ids))]
                    shares = np.exp(scores - scores.max())
                    attended[here, part] = shares / shares.sum() @ value[:, part]
            x = normal(x + dense(attended, prefix + names[3]), prefix + names[4])
            inner = dense(x, prefix + "intermediate.dense")
            inner = inner * [[(1 + math.erf(number / math.sqrt(2))) / 2 for number in row] for row in inner]
            x = normal(x + dense(inner, prefix + "output.dense"), prefix + "output.LayerNorm")
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def test_models_of_both_kinds(self):
        lengths = [0, 1, 1, 59, 40, 40, 7, *range(20), 33, 58]
        texts = [" ".join(map(str, self.random.integers(1, self.WORDS, length))) for length in lengths]
        for kind in ("bert", "mpnet"):
            weights, names = self.write_model(kind)
            for longest, threads in ((60, 1), (30, 3)):
                made = self.embed(texts, longest, threads)
                self.assertEqual((made.shape, made.dtype), ((len(texts), self.WIDTH), np.float32))
                for text, row in zip(texts, made):
                    ids = [0, *map(int, text.split())][:longest]
                    np.testing.assert_allclose(row, self.plain(kind, weights, names, ids), atol=3e-6)

    def test_a_model_of_another_kind_is_refused(self):
        self.write_model("roberta")
        self.assertIn("a model of type roberta; expected bert or mpnet", self.load(48).stderr)


class Reference(unittest.TestCase):
    def test_the_file_of_text768(self):
        reference = json.loads((SCRIPTS / "text768_reference.json").read_text())
        vectors = np.asarray(reference["vectors"]) / 10_000
        self.assertEqual(vectors.shape, (len(reference["sentences"]), 768))
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
