#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_text.py: trains tokenizers on tests/fixtures/text/sample.txt, writes their files beside it, and their results to
text.txt and text_splits.txt.

A line of text.txt has the name of a file, 1 if special tokens are added, a text, its ids, and the text of the ids with
and without special tokens. A line of text_splits.txt has the number of a rule, a text, and the lengths of its pieces in
bytes. A line of text_nfc.txt has a text and its normalisation form C. Texts are the hexadecimal digits of their bytes,
"-" if empty.

Needs tokenizers and unicodedata2 16.0."""

import random
from pathlib import Path

import unicodedata2

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent
FILES = HERE.parent / "fixtures/text"
SAMPLE = (FILES / "sample.txt").read_text(encoding="utf-8")
ASCII = "".join(c for c in SAMPLE if c.isascii())  # its models have few characters
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
RULES = [GPT2, LLAMA3, QWEN2]

TEXTS = [
    "",
    " ",
    "   ",
    "\n",
    "hello",
    " hello",
    "Hello, world! 123 4567 89",
    "it's IT'S we'LL they'd o'clock 'twas",
    "tabs\tand\n\nnewlines\r\n  \n   indented  ",
    "über straße Привет 今天天气 😀👩‍🚀 é ½２０",
    "a\u00a0b\u2003c\u3000d\u200be\ufefff",
    "<|endoftext|>the ship<|endoftext|> <|endoftext|>",
    "<s>the wind</s> and<unk> the <s>",
    "the <mask> is  <mask>  wide<mask>",
    "▁the ▁ ship▁",
    "x" * 70 + " " + "ab" * 40,
    "for (int k = 0; k < count; k++) {\n\ttotal += 1;\n}\n\n\n",
    SAMPLE[:300],
    "eel tree freeee",
    "\u0001\u007f\u0080 control",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ⅷ ⅻ ٣٤٥ ১২৩ ſ 'ſ don'ſ",
]


def trained(tokenizer, size, special, text=SAMPLE, **options):
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False, min_frequency=1, **options
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def byte_level(pre, size=420, special=("<|endoftext|>",), **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, size, list(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))


def split_by(pattern):
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def llama3():
    tokenizer = byte_level(split_by(LLAMA3), 500, ["<|begin_of_text|>", "<|endoftext|>"], ignore_merges=True)
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single="<|begin_of_text|> $A",
                pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                special_tokens=[("<|begin_of_text|>", 0)],
            ),
        ]
    )
    return tokenizer


def qwen2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = split_by(QWEN2)
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, 420, ["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def smollm():
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer = byte_level(pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=True)]), 380)
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, normalized=True, special=False)])
    return tokenizer


def llama2():
    """A SentencePiece model with bytes for unknown characters."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    trained(tokenizer, 420, special, ASCII)
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> <s>:1 $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return tokenizer


def gemma():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    special = ["<unk>", "<s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    return trained(tokenizer, 400, special, ASCII)


def roberta():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), 400, ["<s>", "</s>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return tokenizer


def cut(behavior):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("e", behavior)
    return trained(tokenizer, 150, ["<unk>"], ASCII)


def metaspace(scheme, split):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=scheme == "first"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme, split=split)
    trained(tokenizer, 200, ["<unk>", "<s>"], ASCII)
    tokenizer.add_tokens([AddedToken("Ship", normalized=True)])
    return tokenizer


MODELS = {
    "gpt2": gpt2(),
    "llama3": llama3(),
    "qwen2": qwen2(),
    "smollm": smollm(),
    "llama2": llama2(),
    "metaspace": metaspace("first", True),
    "metaspace2": metaspace("always", False),
    "gemma": gemma(),
    "roberta": roberta(),
    "cut_isolated": cut("isolated"),
    "cut_removed": cut("removed"),
    "cut_previous": cut("merged_with_previous"),
    "cut_next": cut("merged_with_next"),
}


def digits(text):
    return text.encode("utf-8").hex() or "-"


def random_text(rng):
    """Characters of all classes, with the neighbourhoods that the rules distinguish."""
    parts = ["'s", "'LL", "'ve", "a", "Z", "é", "ж", "今", "7", "42", "123456", "½", "٣", " ", "  ", "\n", "\r\n", "\t"]
    parts += ["\u00a0", "\u3000", ".", "!?", "—", "😀", "\u0301", "_", "'", "ſ", "\u200d", "ª", "Ⅷ", "\u2028", "\x1c"]
    return "".join(rng.choice(parts) for _ in range(rng.randrange(1, 14)))


def main():
    rng = random.Random(7)
    for name, tokenizer in MODELS.items():
        tokenizer.save(str(FILES / f"{name}.json"), pretty=True)
    MODELS["gpt2"].model.save(str(FILES), "gpt2")
    with open(HERE / "text.txt", "w", encoding="ascii") as out:
        for name, tokenizer in MODELS.items():
            for number, text in enumerate(TEXTS + [random_text(rng) for _ in range(20)]):
                special = number % 2
                ids = tokenizer.encode(text, add_special_tokens=bool(special)).ids
                plain = tokenizer.decode(ids, skip_special_tokens=False)
                short = tokenizer.decode(ids, skip_special_tokens=True)
                listed = ",".join(map(str, ids)) or "-"
                print(f"{name}.json", special, digits(text), listed, digits(plain), digits(short), file=out)
    with open(HERE / "text_splits.txt", "w", encoding="ascii") as out:
        for rule, pattern in enumerate(RULES):
            splitter = pre_tokenizers.Split(Regex(pattern), "isolated")
            for text in TEXTS[1:] + [random_text(rng) for _ in range(300)]:
                pieces = [len(piece.encode("utf-8")) for piece, _ in splitter.pre_tokenize_str(text)]
                print(rule, digits(text), ",".join(map(str, pieces)), file=out)
    everything = [chr(code) for code in range(0x110000) if unicodedata2.decomposition(chr(code))]
    marks = [chr(code) for code in range(0x110000) if unicodedata2.combining(chr(code))]
    syllables = [chr(code) for code in range(0xAC00, 0xD7A4, 97)] + [chr(code) for code in range(0x1100, 0x1200, 3)]
    with open(HERE / "text_nfc.txt", "w", encoding="ascii") as out:
        for _ in range(600):
            text = "".join(rng.choice(rng.choice([everything, marks, syllables, "aeoAEO"])) for _ in range(6))
            text = unicodedata2.normalize(rng.choice(["NFD", "NFC"]), text) if rng.random() < 0.5 else text
            print(digits(text), digits(unicodedata2.normalize("NFC", text)), file=out)


main()
