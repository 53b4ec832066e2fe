# SPDX-License-Identifier: Apache-2.0
"""Writes tests/goldens/generation.txt, scores and tokens of transformers' generate, which tests/nn/generate.c
describes.

    python make_generation.py > generation.txt            (PyTorch 2, transformers 5)

The network is a table of the scores of the tokens that follow each token. It comes from a formula, fill(), which the
test repeats."""
import math

import torch
from transformers import GenerationMixin, GPT2Config, GPT2LMHeadModel, PretrainedConfig, PreTrainedModel
from transformers.generation.logits_process import (
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.modeling_outputs import CausalLMOutput

VOCABULARY = 12


def fill(number, *shape):
    k = torch.arange(math.prod(shape), dtype=torch.float64)
    return (torch.sin(0.37 * k * k + 0.7 * k + number) * 2).reshape(shape).float()


class TableConfig(PretrainedConfig):
    model_type = "table"

    def __init__(self, vocab_size=VOCABULARY, **options):
        super().__init__(**options)
        self.vocab_size = vocab_size
        self.num_hidden_layers = 1


class Table(PreTrainedModel, GenerationMixin):
    config_class = TableConfig
    main_input_name = "input_ids"

    def __init__(self, table):
        super().__init__(TableConfig())
        self.table = torch.nn.Parameter(table)

    def forward(self, input_ids, **ignored):
        return CausalLMOutput(logits=self.table[input_ids])


# ---- rules of scores -------------------------------------------------------------------------------------------------

IDS = torch.tensor([[3, 5, 3, 0], [7, 7, 1, 11]])
RULES = {
    "penalty": [RepetitionPenaltyLogitsProcessor(1.3)],
    "temperature": [TemperatureLogitsWarper(0.7)],
    "top_k": [TopKLogitsWarper(3)],
    "top_k_all": [TopKLogitsWarper(50)],
    "top_p": [TopPLogitsWarper(0.6)],
    "top_p_zero": [TopPLogitsWarper(0.0)],
    "top_p_two": [TopPLogitsWarper(0.1, min_tokens_to_keep=2)],
    "min_p": [MinPLogitsWarper(0.2)],
    "min_p_three": [MinPLogitsWarper(1.0, min_tokens_to_keep=3)],
    "all": [
        RepetitionPenaltyLogitsProcessor(1.3),
        TemperatureLogitsWarper(1.7),
        TopKLogitsWarper(7),
        TopPLogitsWarper(0.9),
        MinPLogitsWarper(0.15),
    ],
}


def print_rules():
    for name, rules in RULES.items():
        scores = fill(2, 2, VOCABULARY)
        scores[1, 4] = scores[1, 5]  # equal scores
        for rule in rules:
            scores = rule(IDS, scores)
        print(f"scores {name}", *(f"{value:.9g}" for value in scores.flatten().tolist()))


# ---- generation ------------------------------------------------------------------------------------------------------

PROMPTS = [[1, 2, 3], [4, 5, 6]]
GREEDY = {
    "greedy": {},
    "penalised": {"repetition_penalty": 1.8},
    "ended": {"eos_token_id": 9, "pad_token_id": 11, "repetition_penalty": 1.8},
    "ended_early": {"eos_token_id": [9, 10, 0, 6], "repetition_penalty": 1.8},
    "likeliest": {"do_sample": True, "top_k": 1},
}
BEAMS = {
    "beams": {"num_beams": 3},
    "beams_ended": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11},
    "beams_two_ends": {"num_beams": 4, "eos_token_id": [9, 3], "pad_token_id": 11},
    "beams_early": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11, "early_stopping": True},
    "beams_never": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11, "early_stopping": "never"},
    "beams_long": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11, "length_penalty": 3.0},
    "beams_short": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11, "length_penalty": -2.0},
    "beams_no_penalty": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11, "length_penalty": 0.0},
    "beams_penalised": {"num_beams": 4, "eos_token_id": 9, "pad_token_id": 11, "repetition_penalty": 1.5},
    "beams_three_ends": {"num_beams": 3, "eos_token_id": [9, 3, 5], "pad_token_id": 11},
    "beams_three_ends_never": {
        "num_beams": 3,
        "eos_token_id": [9, 3, 5],
        "pad_token_id": 11,
        "early_stopping": "never",
    },
    "beams_many": {"num_beams": 12, "eos_token_id": 9, "pad_token_id": 11},
}


def print_tokens():
    for number, cases in ((1, GREEDY), (5, BEAMS)):
        net = Table(fill(number, VOCABULARY, VOCABULARY)).eval()
        for name, options in cases.items():
            ids = torch.tensor(PROMPTS)
            out = net.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, use_cache=False, **options)
            print(f"tokens {name}", out.shape[1], *out.flatten().tolist())


# ---- a model with a cache --------------------------------------------------------------------------------------------

PADDED = {
    "gpt": {},
    "gpt_penalised": {"repetition_penalty": 1.8},
    "beams_gpt": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11},
    "beams_gpt_penalised": {"num_beams": 3, "eos_token_id": 9, "pad_token_id": 11, "repetition_penalty": 20.0},
}


def print_padded():
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=16, n_embd=8, n_layer=2, n_head=2, bos_token_id=None,
                        eos_token_id=None)
    net = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for number, parameter in enumerate(net.parameters()):
            parameter.copy_(fill(296 + number, *parameter.shape))
    for name, options in PADDED.items():
        ids = torch.tensor([[1, 2, 3], [2, 2, 5]])
        mask = torch.tensor([[1, 1, 1], [0, 0, 1]])
        out = net.generate(ids, attention_mask=mask, max_new_tokens=8, **{"pad_token_id": 11, **options})
        print(f"tokens {name}", out.shape[1], *out.flatten().tolist())


print_rules()
print_tokens()
print_padded()
