"""The sentence models all-MiniLM-L6-v2 and all-mpnet-base-v2 on the processor: texts to vectors of
length one.

The files of a model (tokenizer.json, config.json, model.safetensors) are read here, and numpy alone
computes what sentence-transformers computes: that library brings gigabytes that are not needed for six
or twelve layers. OPENBLAS_NUM_THREADS=1 in the environment leaves the processors to this program's own
threads: all that is done to a batch then runs on each of them, and not only the products.
"""
import concurrent.futures
import json
import os
import pathlib

import numpy as np
import safetensors.numpy
import tokenizers

LONGEST = 256  # tokens of a text, as the smaller model was trained
BATCH_TOKENS = 2048
GELU_ROWS = 64  # of a batch at a time: they stay in a processor's cache

# Where the kinds of models differ: names of weights, and which position a text begins at.
KINDS = {
    "bert": {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
             "attended": "attention.output.dense", "norm": "attention.output.LayerNorm", "first": 0},
    "mpnet": {"query": "attention.attn.q", "key": "attention.attn.k", "value": "attention.attn.v",
              "attended": "attention.attn.o", "norm": "attention.LayerNorm", "first": 2},
}
FARTHEST = 128  # tokens apart, from which mpnet's positions are all one


def layer_norm(x, scale, shift, epsilon):
    """In place."""
    x -= x.mean(axis=-1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1])
    x /= np.sqrt(variance + np.float32(epsilon))
    x *= scale
    x += shift
    return x


def gelu(x):
    """In place: x times the normal distribution's share below x, erf by Abramowitz and Stegun 7.1.26
    (1.5e-7)."""
    for first in range(0, len(x), GELU_ROWS):
        part = x[first:first + GELU_ROWS]
        z = np.abs(part)
        z *= np.float32(np.sqrt(0.5))
        t = 1 / (1 + np.float32(0.3275911) * z)
        series = np.full_like(t, 1.061405429)
        for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592, 0):
            series *= t
            series += np.float32(factor)
        np.square(z, out=z)
        np.negative(z, out=z)
        series *= np.exp(z, out=z)
        np.subtract(1, series, out=series)
        np.copysign(series, part, out=series)
        series += 1
        series *= np.float32(0.5)
        part *= series
    return x


def buckets(length, count):
    """(length, length): which of `count` biases of mpnet a token has that looks at another."""
    apart = np.arange(length)[None] - np.arange(length)[:, None]
    half = count // 2
    exact = half // 2
    distance = np.abs(apart)
    far = np.log(np.maximum(distance, 1) / exact) / np.log(FARTHEST / exact) * (half - exact)
    far = np.minimum(exact + far.astype(np.int64), half - 1)
    return np.where(apart > 0, half, 0) + np.where(distance < exact, distance, far)


class SentenceModel:
    def __init__(self, folder, longest=LONGEST):
        """The folder's config.json says which kind of model it is. A text is cut after `longest` tokens."""
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        if self.config.get("model_type") not in KINDS:
            raise ValueError(f"{folder}: a model of type {self.config.get('model_type')}; "
                             f"expected {' or '.join(KINDS)}")
        self.kind = KINDS[self.config["model_type"]]
        self.weights = safetensors.numpy.load_file(folder / "model.safetensors")
        self.layers = [self._layer(number) for number in range(self.config["num_hidden_layers"])]
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(longest)

    def _layer(self, number):
        """Its weights, products' turned as they are used: pairs of a matrix and what is added, or of a
        scale and a shift."""
        def pair(name):
            whole = f"encoder.layer.{number}.{name}"
            return self.weights.pop(whole + ".weight").T, self.weights.pop(whole + ".bias")

        asked = [pair(self.kind[part]) for part in ("query", "key", "value")]
        layer = {"asked": tuple(np.concatenate(parts, axis=-1) for parts in zip(*asked)),
                 "attended": pair(self.kind["attended"]), "norm": pair(self.kind["norm"]),
                 "inner": pair("intermediate.dense"), "outer": pair("output.dense"),
                 "last_norm": pair("output.LayerNorm")}
        return {name: tuple(map(np.ascontiguousarray, parts)) for name, parts in layer.items()}

    def embed(self, texts, told=lambda done, of: None, threads=None):
        """(texts, width) float32, of length one. Texts of about one length go through it together."""
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(ids), self.config["hidden_size"]), np.float32)
        batches, done = batches_of([len(tokens) for tokens in ids]), 0
        with concurrent.futures.ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            made = pool.map(lambda batch: self._forward([ids[place] for place in batch]), batches)
            for batch, rows in zip(batches, made):
                vectors[batch] = rows
                done += len(batch)
                told(done, len(ids))
        return vectors

    def _forward(self, batch):
        """The texts come by length. Their tokens are rows of one matrix, and nothing is padded."""
        lengths, counts = np.unique([len(ids) for ids in batch], return_counts=True)
        groups, first = [], 0  # (first token, texts, length), of texts of one length
        for length, count in zip(lengths.tolist(), counts.tolist()):
            groups.append((first, count, length))
            first += count * length
        epsilon = self.config["layer_norm_eps"]
        x = layer_norm(self._embedded(batch, groups), self.weights["embeddings.LayerNorm.weight"],
                       self.weights["embeddings.LayerNorm.bias"], epsilon)
        biases = {length: self._bias(length) for _, _, length in groups}
        for layer in self.layers:
            asked = dense(x, layer["asked"])
            attended = np.empty_like(x)
            for first, count, length in groups:
                last = first + count * length
                attended[first:last] = self._attention(asked[first:last].reshape(count, length, -1),
                                                       biases[length])
            x += dense(attended, layer["attended"])
            layer_norm(x, *layer["norm"], epsilon)
            x += dense(gelu(dense(x, layer["inner"])), layer["outer"])
            layer_norm(x, *layer["last_norm"], epsilon)
        means = np.concatenate([x[first:first + count * length].reshape(count, length, -1).mean(axis=1)
                                for first, count, length in groups])
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    def _embedded(self, batch, groups):
        x = self.weights["embeddings.word_embeddings.weight"][np.concatenate(batch)]
        positions = self.weights["embeddings.position_embeddings.weight"][self.kind["first"]:]
        for first, count, length in groups:
            x[first:first + count * length].reshape(count, length, -1)[:] += positions[:length]
        if "embeddings.token_type_embeddings.weight" in self.weights:
            x += self.weights["embeddings.token_type_embeddings.weight"][0]
        return x

    def _bias(self, length):
        """What is added to the scores of each head, or None."""
        biases = self.weights.get("encoder.relative_attention_bias.weight")
        return None if biases is None else biases[buckets(length, len(biases))].transpose(2, 0, 1)

    def _attention(self, asked, bias):
        heads = self.config["num_attention_heads"]
        count, length, _ = asked.shape
        query, key, value = np.ascontiguousarray(
            asked.reshape(count, length, 3, heads, -1).transpose(2, 0, 3, 1, 4))
        query *= np.float32(1 / np.sqrt(query.shape[-1]))
        scores = query @ key.transpose(0, 1, 3, 2)
        if bias is not None:
            scores += bias
        scores -= scores.max(axis=-1, keepdims=True)
        shares = np.exp(scores, out=scores)
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(0, 2, 1, 3).reshape(count * length, -1)


def dense(x, weights):
    made = x @ weights[0]
    made += weights[1]
    return made


def batches_of(lengths):
    """Places of texts by length, in batches of about BATCH_TOKENS."""
    batches, tokens = [], BATCH_TOKENS
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if tokens + lengths[place] > BATCH_TOKENS:
            batches.append([])
            tokens = 0
        batches[-1].append(place)
        tokens += lengths[place]
    return batches
