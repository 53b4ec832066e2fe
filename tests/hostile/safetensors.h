/* SPDX-License-Identifier: Apache-2.0 */
/* Safetensors files that must be rejected, and unusual ones that must be accepted. */
#ifndef WICK_TESTS_HOSTILE_SAFETENSORS_H
#define WICK_TESTS_HOSTILE_SAFETENSORS_H

#include "file.h"

/* A header, followed by `data` bytes and preceded by N: the header's length unless `claim` is set. */
typedef struct safetensors_case {
    const char *header;
    int64_t length; /* of the header, which may contain zero bytes */
    int64_t data;
    const char *word; /* in the error; NULL: must be accepted */
    uint64_t claim;   /* value of N; 0: the header's length */
} safetensors_case;

#define TEXT(literal) literal, sizeof(literal) - 1
/* One tensor "a" with these values. */
#define ONE(dtype, shape, offsets)                                                                                     \
    TEXT("{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}")
/* A U8 tensor with a name. */
#define BYTES(name, count, offsets)                                                                                    \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" count "],\"data_offsets\":[" offsets "]}"
#define METADATA(value) TEXT("{\"__metadata__\":" value "}")

static const safetensors_case safetensors_cases[] = {
    /* ---- N ---- */
    {TEXT("{}"), 0, "truncated", 3},
    {TEXT("{}"), 0, "truncated", 100000000},
    {TEXT("{}"), 0, "exceeds 100000000", 100000001},
    {TEXT("{}"), 0, "exceeds 100000000", UINT64_MAX},
    {TEXT("{}"), 0, "exceeds 100000000", UINT64_MAX - 7},
    {TEXT("{}"), 0, "exceeds 100000000", (uint64_t)1 << 63},
    {TEXT("{}"), 0, "exceeds 100000000", (uint64_t)1 << 32},
    {TEXT("{}"), 0, "a zip archive, as torch.save writes", 0x0808000004034b50}, /* the first bytes of a zip archive */
    {TEXT("{}"), 0, "end of the header", 1},
    {TEXT("{}"), 64, "unexpected data after the end of the header", 10},
    {TEXT(""), 0, "expected '{' at the start", 0},
    {TEXT(""), 5, "expected '{' at the start", 0},

    /* ---- the outer object ---- */
    {TEXT(" {}"), 0, "expected '{' at the start", 0},
    {TEXT("\n{}"), 0, "expected '{' at the start", 0},
    {TEXT("\xef\xbb\xbf{}"), 0, "expected '{' at the start", 0},
    {TEXT("[]"), 0, "expected '{' at the start", 0},
    {TEXT("null"), 0, "expected '{' at the start", 0},
    {TEXT("\"a\""), 0, "expected '{' at the start", 0},
    {TEXT("{"), 0, "end of the header", 0},
    {TEXT("{]"), 0, "expected a string, found ']'", 0},
    {TEXT("{,}"), 0, "expected a string, found ','", 0},
    {TEXT("{}}"), 0, "unexpected data after the end", 0},
    {TEXT("{}{}"), 0, "unexpected data after the end", 0},
    {TEXT("{}x"), 0, "unexpected data after the end", 0},
    {TEXT("{}\n"), 0, "unexpected data after the end", 0},
    {TEXT("{}\0"), 0, "unexpected data after the end", 0},
    {TEXT("{} \t"), 0, "unexpected data after the end", 0},
    {TEXT("{" BYTES("a", "0", "0,0") ",}"), 0, "expected a string, found '}'", 0},
    {TEXT("{" BYTES("a", "0", "0,0") BYTES("b", "0", "0,0") "}"), 0, "',' or '}'", 0},
    {TEXT("{" BYTES("a", "0", "0,0") ",," BYTES("b", "0", "0,0") "}"), 0, "expected a string, found ','", 0},
    {TEXT("{" BYTES("a", "0", "0,0") "]"), 0, "',' or '}'", 0},
    {TEXT("{a:1}"), 0, "expected a string, found 'a'", 0},
    {TEXT("{'a':1}"), 0, "expected a string, found '''", 0},
    {TEXT("{1:1}"), 0, "expected a string, found '1'", 0},
    {TEXT("{\0}"), 0, "found 0x00", 0},
    {TEXT("{\"a\"}"), 0, "expected ':', found '}'", 0},
    {TEXT("{\"a\" \"b\"}"), 0, "expected ':'", 0},
    {TEXT("{\"a\":1}"), 0, "tensor \"a\": expected '{', found '1'", 0},
    {TEXT("{\"a\":null}"), 0, "expected '{', found 'n'", 0},
    {TEXT("{\"a\":[]}"), 0, "expected '{', found '['", 0},
    {TEXT("{\"a\":\"b\"}"), 0, "expected '{', found '\"'", 0},
    {TEXT("{/**/}"), 0, "expected a string, found '/'", 0},

    /* ---- strings ---- */
    {TEXT("{\"a"), 0, "end of a string", 0},
    {TEXT("{\"a\\\""), 0, "end of a string", 0},
    {TEXT("{\"a\\"), 0, "unknown escape", 0},
    {TEXT("{\"a\\x41\":1}"), 0, "unknown escape", 0},
    {TEXT("{\"a\\\0\":1}"), 0, "unknown escape", 0},
    {TEXT("{\"a\\u\":1}"), 0, "four hexadecimal digits", 0},
    {TEXT("{\"a\\u12"), 0, "four hexadecimal digits", 0},
    {TEXT("{\"a\\u12g4\":1}"), 0, "four hexadecimal digits", 0},
    {TEXT("{\"a\\u+123\":1}"), 0, "four hexadecimal digits", 0},
    {TEXT("{\"a\\u0000\":1}"), 0, "a zero character", 0},
    {TEXT("{\"a\0b\":1}"), 0, "control character", 0},
    {TEXT("{\"a\nb\":1}"), 0, "control character", 0},
    {TEXT("{\"a\x1f\":1}"), 0, "control character", 0},
    {TEXT("{\"\\ud800\":1}"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\ud800"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\ud800\\u"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\ud800\\n\":1}"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\ud800\\u0041\":1}"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\ud800\\ud800\":1}"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\udc00\\ud800\":1}"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\\udfff\":1}"), 0, "an unpaired surrogate", 0},
    {TEXT("{\"\x80\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xbf\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xc0\xaf\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xc1\xbf\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xc3\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xc3"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xe0\x80\x80\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xe0\x9f\xbf\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xe2\x82\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xe2\x82"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xed\xa0\x80\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xed\xbf\xbf\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xf0\x8f\xbf\xbf\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xf0\x9f\x98\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xf4\x90\x80\x80\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xf5\x80\x80\x80\":1}"), 0, "invalid UTF-8", 0},
    {TEXT("{\"\xff\":1}"), 0, "invalid UTF-8", 0},
    {METADATA("{\"k\":\"\xff\"}"), 0, "__metadata__: invalid string: invalid UTF-8", 0},

    /* ---- the fields of a tensor ---- */
    {TEXT("{\"a\":{}}"), 0, "missing", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}"), 0, "missing", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,0]}}"), 0, "missing", 0},
    {TEXT("{\"a\":{\"shape\":[0],\"data_offsets\":[0,0]}}"), 0, "missing", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":1}}"), 0, "unknown key \"x\"", 0},
    {TEXT("{\"a\":{\"\":1}}"), 0, "unknown key \"\"", 0},
    {TEXT("{\"a\":{\"Dtype\":\"U8\"}}"), 0, "unknown key \"Dtype\"", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,4]}}"), 4, "duplicate key", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"shape\":[4],\"data_offsets\":[0,4]}}"), 4, "duplicate key", 0},
    {TEXT("{\"a\":{\"data_offsets\":[0,4],\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}"), 4, "duplicate key",
     0},
    {TEXT("{\"a\":{\"shape\":[4],\"sh\\u0061pe\":[4]}}"), 4, "duplicate key \"shape\"", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],}}"), 0, "expected a string", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}"), 0, "end of the header", 0},
    {TEXT("{\"a\":{\"dtype\" \"U8\"}}"), 0, "expected ':'", 0},

    /* ---- dtype ---- */
    {ONE("\"F33\"", "[0]", "[0,0]"), 0, "unknown dtype \"F33\"", 0},
    {ONE("\"f32\"", "[0]", "[0,0]"), 0, "unknown dtype \"f32\"", 0},
    {ONE("\"\"", "[0]", "[0,0]"), 0, "unknown dtype \"\"", 0},
    {ONE("\"F3\"", "[0]", "[0,0]"), 0, "unknown dtype", 0},
    {ONE("\"F32 \"", "[0]", "[0,0]"), 0, "unknown dtype", 0},
    {ONE("\"C128\"", "[0]", "[0,0]"), 0, "unknown dtype", 0},
    {ONE("1", "[0]", "[0,0]"), 0, "expected a string, found '1'", 0},
    {ONE("null", "[0]", "[0,0]"), 0, "expected a string", 0},
    {ONE("[\"U8\"]", "[0]", "[0,0]"), 0, "expected a string", 0},

    /* ---- shape ---- */
    {ONE("\"U8\"", "0", "[0,0]"), 0, "expected '['", 0},
    {ONE("\"U8\"", "{}", "[0,0]"), 0, "expected '['", 0},
    {ONE("\"U8\"", "\"1\"", "[0,1]"), 1, "expected '['", 0},
    {ONE("\"U8\"", "null", "[0,1]"), 1, "expected '['", 0},
    {ONE("\"U8\"", "[-1]", "[0,1]"), 1, "non-negative integer, found '-'", 0},
    {ONE("\"U8\"", "[-0]", "[0,0]"), 0, "non-negative integer, found '-'", 0},
    {ONE("\"U8\"", "[+1]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[1.0]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[1e0]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[1E0]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[.5]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[01]", "[0,1]"), 1, "leading zero", 0},
    {ONE("\"U8\"", "[00]", "[0,0]"), 0, "leading zero", 0},
    {ONE("\"U8\"", "[0x1]", "[0,1]"), 1, "',' or ']'", 0},
    {ONE("\"U8\"", "[1 1]", "[0,1]"), 1, "',' or ']'", 0},
    {ONE("\"U8\"", "[\"1\"]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[true]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[NaN]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[1,]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[,1]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[1}", "[0,1]"), 1, "',' or ']'", 0},
    {ONE("\"U8\"", "[[1]]", "[0,1]"), 1, "non-negative integer", 0},
    {ONE("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "more than 8 dimensions", 0},
    {ONE("\"U8\"", "[9223372036854775808]", "[0,0]"), 0, "exceeds 9223372036854775807", 0},
    {ONE("\"U8\"", "[18446744073709551616]", "[0,0]"), 0, "exceeds 9223372036854775807", 0},
    {ONE("\"U8\"", "[99999999999999999999999999999999]", "[0,0]"), 0, "exceeds 9223372036854775807", 0},
    {ONE("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0, "overflow", 0},
    {ONE("\"U8\"", "[9223372036854775807]", "[0,0]"), 0, "overflow", 0},
    {ONE("\"F64\"", "[2305843009213693952]", "[0,0]"), 0, "overflow", 0},
    {ONE("\"F64\"", "[1,1152921504606846976]", "[0,0]"), 0, "overflow", 0},
    {ONE("\"U8\"", "[0,4294967296,4294967296]", "[0,0]"), 0, "overflow", 0},
    {ONE("\"U8\"", "[4294967296,4294967296,0]", "[0,0]"), 0, "overflow", 0},
    {ONE("\"F4\"", "[3]", "[0,1]"), 1, "overflows or is not an integer", 0},
    {ONE("\"F6_E2M3\"", "[2]", "[0,1]"), 1, "overflows or is not an integer", 0},

    /* ---- data_offsets ---- */
    {ONE("\"U8\"", "[0]", "0"), 0, "expected '['", 0},
    {ONE("\"U8\"", "[0]", "null"), 0, "expected '['", 0},
    {ONE("\"U8\"", "[0]", "[]"), 0, "two integers", 0},
    {ONE("\"U8\"", "[0]", "[0]"), 0, "two integers", 0},
    {ONE("\"U8\"", "[0]", "[0,0,0]"), 0, "more than 2 data_offsets", 0},
    {ONE("\"U8\"", "[0]", "{\"0\":0}"), 0, "expected '['", 0},
    {ONE("\"U8\"", "[4]", "[4,0]"), 4, "must not decrease", 0},
    {ONE("\"U8\"", "[4]", "[-4,0]"), 4, "non-negative integer", 0},
    {ONE("\"U8\"", "[4]", "[0,-4]"), 4, "non-negative integer", 0},
    {ONE("\"U8\"", "[4]", "[0,4.0]"), 4, "non-negative integer", 0},
    {ONE("\"U8\"", "[4]", "[0,18446744073709551620]"), 4, "exceeds 9223372036854775807", 0},
    {ONE("\"U8\"", "[4]", "[0,3]"), 3, "dtype and shape need 4 bytes, but data_offsets span 3", 0},
    {ONE("\"U8\"", "[4]", "[0,5]"), 5, "dtype and shape need 4 bytes, but data_offsets span 5", 0},
    {ONE("\"F32\"", "[4]", "[0,4]"), 4, "dtype and shape need 16 bytes", 0},
    {ONE("\"F32\"", "[]", "[0,0]"), 0, "dtype and shape need 4 bytes", 0},
    {ONE("\"F32\"", "[0]", "[0,4]"), 4, "dtype and shape need 0 bytes", 0},
    {ONE("\"U8\"", "[9223372036854775]", "[0,4]"), 4, "dtype and shape need", 0},

    /* ---- coverage of the data ---- */
    {ONE("\"U8\"", "[4]", "[0,4]"), 3, "truncated", 0},
    {ONE("\"U8\"", "[4]", "[0,4]"), 0, "truncated", 0},
    {ONE("\"U8\"", "[4]", "[0,4]"), 5, "1 bytes follow", 0},
    {TEXT("{}"), 1, "1 bytes follow", 0},
    {METADATA("{}"), 8, "8 bytes follow", 0},
    {ONE("\"U8\"", "[4]", "[1,5]"), 5, "a hole", 0},
    {ONE("\"U8\"", "[4]", "[9223372036854775803,9223372036854775807]"), 4, "a hole", 0},
    {ONE("\"U8\"", "[0]", "[9223372036854775807,9223372036854775807]"), 0, "a hole", 0},
    {ONE("\"U8\"", "[0]", "[1,1]"), 0, "a hole", 0},
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("b", "2", "3,5") "}"), 5, "tensor \"b\"", 0},
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("b", "2", "3,5") "}"), 5, "a hole", 0},
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("b", "2", "1,3") "}"), 3, "an overlap", 0},
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("b", "2", "0,2") "}"), 2, "an overlap", 0},
    {TEXT("{" BYTES("a", "4", "0,4") "," BYTES("b", "2", "1,3") "}"), 4, "an overlap", 0},
    {TEXT("{" BYTES("b", "2", "1,3") "," BYTES("a", "2", "0,2") "}"), 3, "an overlap", 0},
    {TEXT("{" BYTES("a", "4", "0,4") "," BYTES("z", "0", "2,2") "}"), 4, "an overlap", 0},
    {TEXT("{" BYTES("a", "4", "0,4") "," BYTES("z", "0", "5,5") "}"), 4, "a hole", 0},
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("b", "3", "2,5") "}"), 4, "tensor \"b\": its data ends at 5", 0},

    /* ---- ambiguous keys ---- */
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("a", "2", "2,4") "}"), 4, "duplicate tensor \"a\"", 0},
    {TEXT("{" BYTES("a", "0", "0,0") "," BYTES("a", "0", "0,0") "}"), 0, "duplicate tensor \"a\"", 0},
    {TEXT("{" BYTES("a", "2", "0,2") "," BYTES("b", "2", "2,4") "," BYTES("\\u0061", "2", "4,6") "}"), 6,
     "duplicate tensor \"a\"", 0},
    {TEXT("{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]},"
          "\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}"),
     16, "duplicate tensor \"a\"", 0},
    {TEXT("{\"__metadata__\":{},\"__metadata__\":{}}"), 0, "duplicate key \"__metadata__\"", 0},
    {METADATA("{\"k\":\"1\",\"k\":\"1\"}"), 0, "__metadata__: duplicate key \"k\"", 0},
    {METADATA("{\"k\":\"1\",\"l\":\"1\",\"\\u006b\":\"1\"}"), 0, "duplicate key \"k\"", 0},

    /* ---- metadata ---- */
    {METADATA("null"), 0, "__metadata__: expected '{'", 0},
    {METADATA("[]"), 0, "expected '{'", 0},
    {METADATA("\"x\""), 0, "expected '{'", 0},
    {METADATA("{\"k\":1}"), 0, "__metadata__: expected a string, found '1'", 0},
    {METADATA("{\"k\":null}"), 0, "expected a string", 0},
    {METADATA("{\"k\":{}}"), 0, "expected a string", 0},
    {METADATA("{\"k\":[\"v\"]}"), 0, "expected a string", 0},
    {METADATA("{\"k\"}"), 0, "expected ':'", 0},
    {METADATA("{\"k\":\"v\",}"), 0, "expected a string", 0},
    {METADATA("{\"k\":\"v\" \"l\":\"w\"}"), 0, "',' or '}'", 0},
    {METADATA("{\"k\":\"v\""), 0, "',' or '}'", 0},
    {TEXT("{\"__metadata__\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"), 0, "expected a string", 0},

    /* ---- unusual valid files ---- */
    {TEXT("{}"), 0, NULL, 0},
    {TEXT("{ \t\r\n}        "), 0, NULL, 0},
    {METADATA("{}"), 0, NULL, 0},
    {METADATA("{\"\":\"\"}"), 0, NULL, 0},
    {METADATA("{\"\\ud83d\\ude00\\u00e9\\u20ac\\/\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u001F\x7f\"}"), 0, NULL, 0},
    {ONE("\"U8\"", "[]", "[0,1]"), 1, NULL, 0},
    {ONE("\"U8\"", "[0]", "[0,0]"), 0, NULL, 0},
    {ONE("\"U8\"", "[1,1,1,1,1,1,1,1]", "[0,1]"), 1, NULL, 0},
    {ONE("\"F64\"", "[9223372036854775,0]", "[0,0]"), 0, NULL, 0},
    {ONE("\"F8_E4M3\"", "[3]", "[0,3]"), 3, NULL, 0},
    {ONE("\"F6_E3M2\"", "[4]", "[0,3]"), 3, NULL, 0},
    {ONE(" \"U8\" ", " [ 1 , 2 ] ", " [ 0 , 2 ] "), 2, NULL, 0},
    {TEXT("{" BYTES("", "1", "0,1") "}"), 1, NULL, 0},
    {TEXT("{" BYTES("b", "2", "2,4") "," BYTES("a", "2", "0,2") "}"), 4, NULL, 0},
    {TEXT("{" BYTES("z", "0", "0,0") "," BYTES("a", "2", "0,2") "," BYTES("y", "0", "2,2") "}"), 2, NULL, 0},
    {TEXT("{" BYTES("z", "0", "2,2") "," BYTES("a", "2", "0,2") "," BYTES("b", "1", "2,3") "}"), 3, NULL, 0},
    {TEXT("{" BYTES("__metadata", "1", "0,1") "}"), 1, NULL, 0},
    {TEXT("{\"data_offsets\":{\"data_offsets\":[0,1],\"shape\":[],\"dtype\":\"BOOL\"}}"), 1, NULL, 0},
};

enum { SAFETENSORS_CASES = sizeof safetensors_cases / sizeof *safetensors_cases };

/* Returns the file of a case; its data counts up. */
static inline bytes safetensors_file(const safetensors_case *from)
{
    bytes file = bytes_new(8 + from->length + from->data);
    put_u64(file.data, from->claim ? from->claim : (uint64_t)from->length);
    memcpy(file.data + 8, from->header, (size_t)from->length);
    for (int64_t k = 0; k < from->data; k++) file.data[8 + from->length + k] = (unsigned char)k;
    return file;
}

#endif
