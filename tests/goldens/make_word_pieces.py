#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_word_pieces.py: writes tokenizers of word pieces, bert.json, bert_cased.json and bert_vocab.txt, to
tests/fixtures/text, and their results to word_pieces.txt and word_pieces_normal.txt.

A line of word_pieces.txt has the fields of text.txt (make_text.py). A line of word_pieces_normal.txt has the rules of
BertNormalizer as bits (1: clean_text, 2: handle_chinese_chars, 4: strip_accents, 8: lowercase), a text, its
normalisation, and its words before normalisation, separated by commas. The lines of "all" have instead a hash of the
results for all characters. Texts are the hexadecimal digits of their bytes, "-" if empty.

Needs tokenizers."""

import random
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

HERE = Path(__file__).resolve().parent
FILES = HERE.parent / "fixtures/text"
SAMPLE = (FILES / "sample.txt").read_text(encoding="utf-8")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

TEXTS = [
    "",
    " ",
    "hello",
    "Hello, world! 123 4567 89",
    "the ship sails playing unplayable",
    "It's IT'S we'LL they'd o'clock; don't!",
    "tabs\tand\n\nnewlines\r\n  \n   indented  ",
    "Café ÉCOLE naïve Ångström Ærø straße İstanbul",
    "cafe\u0301 a\u0301\u0327b\u0327\u0301 e\u0323\u0302",
    "Ἀθήνα ΆΈ ς Σ ΟΔΥΣΣΕΎΣ",
    "Привет Йёд ЙЁД и\u0306",
    "今天天气 漢字かな カナ㐀\U00020000\U0002b820\U0002b920豈",
    "한국어 각 \u1112\u1161\u11ab",
    "😀👩‍🚀 ok🏳️‍🌈é ½２０ﬁ",
    "a\u00a0b\u2003c\u3000d\u200be\ufefff\u2028g\u0085h",
    "\u0001\u007f\u0080 control\u0000less \ufffd \ue000x \u00adsoft",
    "[CLS] the [MASK] ship [SEP][PAD] [UNK] [cls]",
    "##ing ## #hash the##re",
    "$5+3=8 ~`^ «x» “y” a—b 。、！ x_y a|b <c> ©",
    "x" * 100 + " " + "x" * 101 + " " + "é" * 100 + " " + "é" * 101,
    "العَرَبِيَّة हिन्दी ไทย",
    SAMPLE[:400],
]


def vocabulary(normalizer):
    """Special tokens, the characters of the texts, and the commonest beginnings and endings of their words."""
    words = []
    for text in [SAMPLE, *TEXTS]:
        normal = normalizer.normalize_str(text.replace("\0", ""))
        words += [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(normal)]
    characters = sorted({char for word in words for char in word})
    begins = Counter(word[:k] for word in words for k in range(2, len(word) + 1) if len(word) < 20)
    ends = Counter(f"##{word[k:]}" for word in words for k in range(1, len(word) - 1) if len(word) < 20)
    common = [part for parts in (begins, ends) for part, _ in sorted(parts.items(), key=lambda p: (-p[1], p[0]))[:150]]
    rare = {"\U0001f680", "ß", "ท", "x"}  # words with these are unknown, or end in one
    tokens = SPECIAL + [c for c in characters if c not in rare] + [f"##{c}" for c in characters if c != "ท"] + common
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def bert(lower):
    normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer = Tokenizer(models.WordPiece(vocabulary(normalizer), unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", SPECIAL.index("[CLS]")), ("[SEP]", SPECIAL.index("[SEP]"))],
    )
    return tokenizer


def digits(text):
    return text.encode("utf-8").hex() or "-"


def random_text(rng):
    """Characters of all classes, mostly those that the rules change."""
    latin = "aZéÉ\u0301\u0327 .'-"
    pools = [latin, latin, "今漢㐀豈\U0002f800\U0002b920", "\t\n\r \u00a0\u2028\u3000\u0085"]
    pools += ["\u0000\u200b\u00ad\ue000\ufffd"]
    blocks = [(0x80, 0x600), (0x1E00, 0x2100), (0x600, 0x1200), (0xAC00, 0xD7A4), (0x10000, 0x12000)]
    pools += [[chr(c) for c in range(first, last)] for first, last in blocks]
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(1, 12)))


def rules(bits):
    names = ["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"]
    return normalizers.BertNormalizer(**{name: bool(bits >> k & 1) for k, name in enumerate(names)})


def hash_of(texts):
    """FNV-1a of the texts, each ended by a byte 0xff."""
    value = 0xCBF29CE484222325
    for text in texts:
        for byte in text.encode("utf-8") + b"\xff":
            value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def write_results(tokenizers, rng):
    with open(HERE / "word_pieces.txt", "w", encoding="ascii") as out:
        for name, tokenizer in tokenizers.items():
            for number, text in enumerate(TEXTS + [random_text(rng) for _ in range(40)]):
                text = text.replace("\0", "")
                special = number % 2
                ids = tokenizer.encode(text, add_special_tokens=bool(special)).ids
                plain = tokenizer.decode(ids, skip_special_tokens=False)
                short = tokenizer.decode(ids, skip_special_tokens=True)
                listed = ",".join(map(str, ids)) or "-"
                print(f"{name}.json", special, digits(text), listed, digits(plain), digits(short), file=out)


def write_normal(rng):
    splitter = pre_tokenizers.BertPreTokenizer()
    every = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code <= 0xDFFF]
    with open(HERE / "word_pieces_normal.txt", "w", encoding="ascii") as out:
        for bits in (1, 2, 4, 8):
            normalizer = rules(bits)
            print("all", bits, f"{hash_of(map(normalizer.normalize_str, every)):x}", file=out)
        words = [word for char in every for word, _ in splitter.pre_tokenize_str(f"a{char}b")]
        print("all", 0, f"{hash_of(words):x}", file=out)
        texts = [(random_text(rng).replace("\0", ""), rng.randrange(16)) for _ in range(400)]
        later = "\u0898\u0899\u08d3\u1ac0\u1abf\U00010f47\U00010f46\u0301\u0327"  # marks of later versions of Unicode
        texts += [(f"a{''.join(rng.choice(later) for _ in range(6))}", 4) for _ in range(20)]
        for text, bits in texts:
            words = ",".join(digits(word) for word, _ in splitter.pre_tokenize_str(text)) or "-"
            print("text", bits, digits(text), digits(rules(bits).normalize_str(text)), words, file=out)


def main():
    rng = random.Random(11)
    tokenizers = {"bert": bert(True), "bert_cased": bert(False)}
    for name, tokenizer in tokenizers.items():
        tokenizer.save(str(FILES / f"{name}.json"), pretty=False)
    tokens = sorted(tokenizers["bert"].get_vocab().items(), key=lambda item: item[1])
    (FILES / "bert_vocab.txt").write_text("".join(f"{token}\n" for token, _ in tokens), encoding="utf-8", newline="\n")
    write_results(tokenizers, rng)
    write_normal(rng)


main()
