/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the initial inputs of the fuzzers, the files of the lists that must be accepted:
 *     cc -D_GNU_SOURCE -Iinclude -Isrc tests/hostile/seeds.c src/distributed/tcp/{wire,handshake,hmac}.c -lz -o
 *     /tmp/seeds
 *     /tmp/seeds tests/fuzz */
#include "frames.h"
#include "gguf.h"
#include "idx.h"
#include "pnm.h"
#include "safetensors.h"
#include "tokenizers.h"
#include <stdio.h>

static void put(const char *folder, const char *format, int number, bytes content)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%02d", folder, format, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(content.data, 1, (size_t)content.count, file) != (size_t)content.count || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    free(content.data);
}

int main(int count, char **arguments)
{
    if (count != 2) return 2;
    for (int k = 0, number = 0; k < SAFETENSORS_CASES; k++)
        if (!safetensors_cases[k].word)
            put(arguments[1], "safetensors", number++, safetensors_file(&safetensors_cases[k]));
    for (int k = 0, number = 0; k < IDX_CASES; k++) {
        if (idx_cases[k].word) continue;
        bytes plain = idx_file(&idx_cases[k]);
        put(arguments[1], "idx", number++, gzip(plain));
        put(arguments[1], "idx", number++, plain);
    }
    for (int k = 0, number = 0; k < PNM_CASES; k++)
        if (!pnm_cases[k].word) put(arguments[1], "pnm", number++, pnm_file(&pnm_cases[k]));
    for (int k = 0, number = 0; k < TOKENIZER_CASES; k++)
        if (!tokenizer_cases[k].word) put(arguments[1], "tokenizers", number++, tokenizer_file(&tokenizer_cases[k]));
    for (int k = 0, number = 0; k < GGUF_CASES; k++)
        if (!gguf_cases[k].word) put(arguments[1], "gguf", number++, gguf_file(&gguf_cases[k]));
    for (int kind = 0; kind <= WK__WIRE_KINDS; kind++) {
        uint8_t said[WK__WIRE_HEADER_BYTES + FRAMES_MOST] = {0};
        const wk__wire_header frame = frames_sample(kind % WK__WIRE_KINDS);
        wk__wire_header_write(&frame, said);
        const bool talks = kind == WK__WIRE_KINDS;
        put(arguments[1], "frames", kind,
            bytes_copy(said,
                       talks ? (int64_t)frames_conversation(said) : WK__WIRE_HEADER_BYTES + (int64_t)frame.bytes));
    }
    return 0;
}
