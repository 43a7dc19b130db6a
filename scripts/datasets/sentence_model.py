"""The sentence model all-MiniLM-L6-v2 on the processor: texts to vectors of length one.

It reads the files of the model itself (tokenizer.json, config.json, model.safetensors) and computes
what sentence-transformers computes, with numpy alone: that library brings gigabytes that are not
needed for six small layers.
"""
import json
import pathlib

import numpy as np
import safetensors.numpy
import tokenizers

LONGEST = 256  # tokens of a text, as the model was trained
BATCH_TOKENS = 8192


def layer_norm(x, weights, name, epsilon):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * weights[name + ".weight"] + weights[name + ".bias"]


def gelu(x):
    """x times the normal distribution's share below x: erf by Abramowitz and Stegun 7.1.26 (1.5e-7)."""
    z = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    return (x * (1 + erf) / 2).astype(np.float32)


class SentenceModel:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = safetensors.numpy.load_file(folder / "model.safetensors")
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def embed(self, texts, told=lambda done, of: None):
        """(texts, 384) float32, of length one. Texts of about one length go through it together."""
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        vectors = np.empty((len(ids), self.config["hidden_size"]), np.float32)
        first = 0
        while first < len(order):
            last = first + 1
            while last < len(order) and (last + 1 - first) * len(ids[order[last]]) <= BATCH_TOKENS:
                last += 1
            batch = order[first:last]
            vectors[batch] = self._forward([ids[place] for place in batch])
            first = last
            told(first, len(order))
        return vectors

    def _forward(self, batch):
        longest = max(map(len, batch))
        tokens = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros((len(batch), longest), np.float32)
        for row, ids in enumerate(batch):
            tokens[row, :len(ids)] = ids
            mask[row, :len(ids)] = 1
        weights, epsilon = self.weights, self.config["layer_norm_eps"]
        x = (weights["embeddings.word_embeddings.weight"][tokens]
             + weights["embeddings.position_embeddings.weight"][:longest]
             + weights["embeddings.token_type_embeddings.weight"][0])
        x = layer_norm(x, weights, "embeddings.LayerNorm", epsilon)
        for layer in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{layer}."
            attended = self._dense(self._attention(x, mask, name), name + "attention.output.dense")
            x = layer_norm(x + attended, weights, name + "attention.output.LayerNorm", epsilon)
            inner = gelu(self._dense(x, name + "intermediate.dense"))
            x = layer_norm(x + self._dense(inner, name + "output.dense"), weights,
                           name + "output.LayerNorm", epsilon)
        mean = (x * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _dense(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def _attention(self, x, mask, name):
        heads = self.config["num_attention_heads"]
        rows, length, width = x.shape

        def by_head(part):
            made = self._dense(x, f"{name}attention.self.{part}")
            return made.reshape(rows, length, heads, width // heads).transpose(0, 2, 1, 3)

        scores = by_head("query") @ by_head("key").transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // heads))
        scores += (mask[:, None, None, :] - 1) * np.float32(1e9)
        scores -= scores.max(axis=-1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ by_head("value")).transpose(0, 2, 1, 3).reshape(rows, length, width)
