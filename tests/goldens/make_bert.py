# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fixtures/bert, a small BertModel of transformers and its results, which tests/nn/bert.c reads.

    python make_bert.py            (PyTorch 2, transformers 5)

model.safetensors has the state_dict. results.safetensors has inputs, hidden states and pooled output of the calls
"alone" (ids only) and "masked" (ids, types and mask), and, as grad.NAME, gradients of parameters: those of the sum of
both outputs of the second call times cos(k), k being the index of an element."""
import pathlib

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

FOLDER = pathlib.Path(__file__).parent.parent / "fixtures" / "bert"
SIZES = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
             max_position_embeddings=12, type_vocab_size=2)
GRADS = ["embeddings.word_embeddings.weight", "embeddings.token_type_embeddings.weight",
         "embeddings.position_embeddings.weight", "encoder.layer.0.attention.self.key.weight",
         "encoder.layer.1.output.LayerNorm.weight", "pooler.dense.bias"]

torch.manual_seed(1)
net = BertModel(BertConfig(**SIZES)).eval()
with torch.no_grad():
    for x in net.parameters():
        x.copy_(torch.randn_like(x) * 0.3 + (1 if x.ndim == 1 else 0))
FOLDER.mkdir(exist_ok=True)
save_file({name: x.contiguous() for name, x in net.state_dict().items()}, FOLDER / "model.safetensors")

ids = torch.randint(1, 40, (2, 9))
mask = torch.ones(2, 9, dtype=torch.long)
mask[1, 6:] = 0
ids[1, 6:] = 0
types = torch.zeros(2, 9, dtype=torch.long)
types[:, 4:] = 1
found = {"ids": ids, "token_type_ids": types, "attention_mask": mask}
for name, options in ("alone", {}), ("masked", {"token_type_ids": types, "attention_mask": mask}):
    out = net(ids, **options)
    found[name + ".hidden"], found[name + ".pooled"] = out.last_hidden_state, out.pooler_output
outputs = [found["masked.hidden"], found["masked.pooled"]]
sum((y.flatten() * torch.arange(y.numel()).cos()).sum() for y in outputs).backward()
found |= {"grad." + name: net.get_parameter(name).grad for name in GRADS}
save_file({name: x.detach().contiguous() for name, x in found.items()}, FOLDER / "results.safetensors")
print(sum(x.numel() for x in net.parameters()), "parameters;",
      sum(x.numel() for x in BertModel(BertConfig()).parameters()), "by default")
