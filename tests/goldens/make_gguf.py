# SPDX-License-Identifier: Apache-2.0
"""Writes small GGUF files and the values that the reference reads from them to ../fixtures/gguf, for tests/io/gguf.c:

    python make_gguf.py        (gguf 0.19, NumPy; transformers 5, PyTorch 2)

    types.gguf            a tensor of each type, with random bytes as quantised blocks, and metadata of all types
    types.safetensors     its tensors, dequantised by the package gguf
    quantized.safetensors floats, and their blocks of 32 elements as the package gguf quantises them
    llama.gguf, qwen2.gguf                   models with F16, and with Q8_0; the end token of llama follows its ids
    llama.safetensors, qwen2.safetensors     ids, their scores, and q_proj, k_proj of layer 0 of the same model
    text-RULE.gguf        vocabularies, which ../text has as tokenizer.json
    text.safetensors      ids of ../text/sample.txt with each of these"""
import json
import os

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Value
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM
from transformers.tokenization_utils_base import generate_merges

ROWS, COLUMNS = 2, 256
HALF_AT = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
           "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "IQ2_XS": [0]}
SCALES = [0.0, -0.0, 6e-8, -6.1e-5, 65504.0]


def quantised(name, random):
    """Random blocks, whose scales are finite."""
    block, size = gguf.GGML_QUANT_SIZES[Type[name]]
    data = random.integers(0, 256, (ROWS, COLUMNS // block, size), dtype=np.uint8)
    for at in HALF_AT[name]:
        scale = (random.standard_normal((ROWS, COLUMNS // block)) * 0.01).astype(np.float16)
        if block == 32:
            scale[0, :len(SCALES)] = SCALES
        data[..., at:at + 2] = scale[..., None].view(np.uint8)
    return data.reshape(ROWS, -1)


def write_types():
    random = np.random.default_rng(1)
    writer, expected = gguf.GGUFWriter("types.gguf", "types"), {}
    for name, value, kind in [("u8", 255, Value.UINT8), ("i8", -128, Value.INT8), ("u16", 65535, Value.UINT16),
                              ("i16", -32768, Value.INT16), ("u32", 2 ** 32 - 1, Value.UINT32),
                              ("i32", -2 ** 31, Value.INT32), ("f32", 1e-5, Value.FLOAT32), ("bool", True, Value.BOOL),
                              ("string", "a \u00e9\n", Value.STRING), ("u64", 2 ** 64 - 1, Value.UINT64),
                              ("i64", -2 ** 63, Value.INT64), ("f64", 0.1, Value.FLOAT64)]:
        writer.add_key_value("test." + name, value, kind)
    writer.add_array("test.numbers", [1, -2, 3])
    writer.add_array("test.floats", [0.5, 1e-6, -7.0, 999999.0, 1e6, -0.0])
    writer.add_array("test.strings", ["", "a\"b", "\u0120\n"])
    for name in HALF_AT:
        data = quantised(name, random)
        writer.add_tensor(name, data, raw_dtype=Type[name])
        if name != "IQ2_XS":
            expected[name] = gguf.dequantize(data, Type[name]).reshape(ROWS, COLUMNS)
    x = random.standard_normal((3, 5)).astype(np.float32)
    for kind in np.float32, np.float16, np.float64, np.int8, np.int16, np.int32, np.int64:
        name = np.dtype(kind).name
        expected[name] = (x * 100).astype(kind)
        writer.add_tensor(name, expected[name])
    pieces = gguf.quantize(x, Type.BF16)
    writer.add_tensor("bf16", pieces, raw_dtype=Type.BF16)
    expected["bf16"] = gguf.dequantize(pieces, Type.BF16)
    finish(writer)
    save_file(expected, "types.safetensors")


def write_quantized():
    """Blocks of normal numbers, of zeros, with scales that overflow f16 or are denormal, with ties."""
    random = np.random.default_rng(2)
    x = random.standard_normal((64, 32)).astype(np.float32)
    x *= np.exp2(random.integers(-30, 12, (64, 1))).astype(np.float32)
    x[0], x[1, 3:] = 0, 0
    x[2], x[3] = np.linspace(-1e7, 1e7, 32), np.linspace(-1, 1, 32)
    x[4], x[5, :2] = np.arange(32) - 16, [9, -9]
    x[6] = np.where(np.arange(32) % 2, 127, 0.5) * (1 - np.arange(32) % 3)
    x = x.reshape(8, 256)
    with np.errstate(over="ignore"):
        blocks = {name: gguf.quantize(x, Type[name.upper()]) for name in ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1")}
    save_file({"x": x, **blocks}, "quantized.safetensors")


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
PARTS = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
         "post_attention_layernorm": "ffn_norm", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def gguf_name(name):
    owner, kind = name.rsplit(".", 1)
    if owner in NAMES:
        return f"{NAMES[owner]}.{kind}"
    layer, part = owner.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{PARTS[part]}.{kind}"


def interleave(x, heads):
    """The order of rows in files of the architecture llama: features i and i + D/2 of a head are successive."""
    return x.reshape(heads, 2, -1, x.shape[1]).swapaxes(1, 2).reshape(x.shape)


def write_model(name, model, kind):
    """Rounds the weights to `kind`, writes them, and computes the scores with the rounded ones."""
    torch.manual_seed(3)
    c, writer = model.config, gguf.GGUFWriter(name + ".gguf", name)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_freq_base(c.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)
    if name == "llama":
        add_frequencies(writer, c)
    with torch.no_grad():
        for key, x in model.named_parameters():
            x.copy_(torch.randn(x.shape) * 0.3 + (x.ndim == 1))
            data = x.numpy()
            if x.ndim == 1:
                writer.add_tensor(gguf_name(key), data)
                continue
            data = gguf.quantize(data, kind)
            x.copy_(torch.tensor(gguf.dequantize(data, kind).reshape(x.shape).astype(np.float32)))
            heads = c.num_attention_heads if "q_proj" in key else c.num_key_value_heads
            if name == "llama" and ("q_proj" in key or "k_proj" in key):
                data = interleave(data, heads)
            writer.add_tensor(gguf_name(key), data, raw_dtype=kind)
        ids = torch.randint(0, c.vocab_size, (2, 60))
        scores = model.eval()(ids).logits
    if name == "llama":
        writer.add_eos_token_id(int(scores[0, -1].argmax()))
    finish(writer)
    attention = model.model.layers[0].self_attn
    save_file({"ids": ids.numpy(), "scores": scores.numpy(), "q_proj": attention.q_proj.weight.detach().numpy(),
               "k_proj": attention.k_proj.weight.detach().numpy()}, name + ".safetensors")


def add_frequencies(writer, c):
    """rope_freqs.weight: plain frequency / scaled one, as transformers scales it."""
    plain = c.rope_parameters["rope_theta"] ** -(np.arange(0, 8, 2) / 8)
    turns = 8192 * plain / (2 * np.pi)
    kept = np.clip((turns - 1) / (4 - 1), 0, 1)
    writer.add_tensor("rope_freqs.weight", (1 / (kept + (1 - kept) / 8)).astype(np.float32))


TEXTS = {"gpt2": "gpt-2", "llama3": "llama-bpe", "qwen2": "qwen2", "smollm": "smollm"}


def write_text(name, sample):
    """A vocabulary without tensors. Of smollm the parts that GGUF cannot describe are removed."""
    with open(f"../text/{name}.json") as file:
        source = json.load(file)
    if name == "smollm":
        source["added_tokens"].pop()
        source["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = False
    writer, tokens = gguf.GGUFWriter(f"text-{TEXTS[name]}.gguf", "llama"), sorted(
        (id, token) for token, id in source["model"]["vocab"].items())
    added = {token["content"] for token in source["added_tokens"]}
    assert [id for id, _ in tokens] == list(range(len(tokens)))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(TEXTS[name])
    writer.add_token_list([token for _, token in tokens])
    writer.add_token_types([3 if token in added else 1 for _, token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in source["model"]["merges"]])
    writer.add_bos_token_id(0)
    finish(writer)
    return np.array(Tokenizer.from_str(json.dumps(source)).encode(sample).ids, dtype=np.int64)


def write_scored(sample):
    """The vocabulary of Llama 2, whose merges become scores, many of them equal. transformers makes merges of these."""
    with open("../text/llama2.json") as file:
        source = json.load(file)
    vocab = source["model"]["vocab"]
    rank = {"".join(pair): k for k, pair in reversed(list(enumerate(source["model"]["merges"])))}
    scores = {token: float(-(rank.get(token, 10 ** 6) // 48)) for token in vocab}
    source["model"]["merges"] = [list(pair) for pair in generate_merges(vocab, scores)]
    del source["added_tokens"][3:]
    source["post_processor"]["single"].pop()
    writer = gguf.GGUFWriter("text-llama.gguf", "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(vocab))
    writer.add_token_scores([scores[token] for token in vocab])
    writer.add_token_types([3 if id < 3 else 6 if id < 259 else 1 for id in vocab.values()])
    writer.add_bos_token_id(1)
    writer.add_unk_token_id(0)
    finish(writer)
    return np.array(Tokenizer.from_str(json.dumps(source)).encode(sample).ids, dtype=np.int64)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/gguf"))
    write_types()
    write_quantized()
    common = dict(hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5)
    scaled = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
              "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    write_model("llama", LlamaForCausalLM(LlamaConfig(vocab_size=40, rope_parameters=scaled, **common)), Type.F16)
    write_model("qwen2", Qwen2ForCausalLM(Qwen2Config(vocab_size=40, tie_word_embeddings=True, **common)), Type.Q8_0)
    with open("../text/sample.txt", encoding="utf-8", newline="") as file:
        sample = file.read()
    ids = {name: write_text(name, sample) for name in TEXTS} | {"llama2": write_scored(sample)}
    save_file(ids, "text.safetensors")
    for name in "types", "quantized", "llama", "qwen2", "text":
        os.chmod(name + ".safetensors", 0o644)


main()
