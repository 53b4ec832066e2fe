/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC; see hmac.h. */
#include "hmac.h"
#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void process_block(wk__sha256 *h)
{
    uint32_t w[64], s[8];
    for (int k = 0; k < 16; k++) {
        const uint8_t *at = h->block + 4 * k;
        w[k] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int k = 16; k < 64; k++) {
        const uint32_t a = w[k - 15], b = w[k - 2];
        w[k] = w[k - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[k - 7] +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
    memcpy(s, h->state, sizeof s);
    for (int k = 0; k < 64; k++) {
        const uint32_t e = s[4], a = s[0];
        const uint32_t one = s[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                             ((e & s[5]) ^ (~e & s[6])) + constant[k] + w[k];
        const uint32_t two = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
                             ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int k = 0; k < 8; k++) h->state[k] += s[k];
}

void wk__sha256_begin(wk__sha256 *h)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(h->state, first, sizeof first);
    h->bytes = 0;
}

void wk__sha256_add(wk__sha256 *h, const void *data, size_t bytes)
{
    for (const uint8_t *from = data; bytes > 0;) {
        const size_t used = h->bytes % WK__SHA256_BLOCK, room = WK__SHA256_BLOCK - used,
                     some = bytes < room ? bytes : room;
        memcpy(h->block + used, from, some);
        h->bytes += some;
        from += some;
        bytes -= some;
        if (some == room) process_block(h);
    }
}

void wk__sha256_end(wk__sha256 *h, uint8_t digest[WK__SHA256_BYTES])
{
    const uint64_t bits = h->bytes * 8;
    uint8_t length[8];
    for (int k = 0; k < 8; k++) length[k] = (uint8_t)(bits >> (56 - 8 * k));
    wk__sha256_add(h, "\x80", 1);
    while (h->bytes % WK__SHA256_BLOCK != WK__SHA256_BLOCK - sizeof length) wk__sha256_add(h, "", 1);
    wk__sha256_add(h, length, sizeof length);
    for (int k = 0; k < WK__SHA256_BYTES; k++) digest[k] = (uint8_t)(h->state[k / 4] >> (24 - k % 4 * 8));
}

void wk__hmac(const char *secret, const wk__hmac_part *part, int parts, uint8_t mac[WK__SHA256_BYTES])
{
    uint8_t key[WK__SHA256_BLOCK] = {0}, pad[WK__SHA256_BLOCK];
    wk__sha256 hash;
    const size_t length = strlen(secret);
    if (length <= sizeof key) {
        memcpy(key, secret, length);
    } else {
        wk__sha256_begin(&hash);
        wk__sha256_add(&hash, secret, length);
        wk__sha256_end(&hash, key);
    }
    for (int outer = 0; outer < 2; outer++) {
        for (size_t k = 0; k < sizeof key; k++) pad[k] = key[k] ^ (outer ? 0x5c : 0x36);
        wk__sha256_begin(&hash);
        wk__sha256_add(&hash, pad, sizeof pad);
        for (int k = 0; !outer && k < parts; k++) wk__sha256_add(&hash, part[k].data, part[k].bytes);
        if (outer) wk__sha256_add(&hash, mac, WK__SHA256_BYTES);
        wk__sha256_end(&hash, mac);
    }
}

bool wk__hmac_equal(const uint8_t a[WK__SHA256_BYTES], const uint8_t b[WK__SHA256_BYTES])
{
    unsigned different = 0;
    for (int k = 0; k < WK__SHA256_BYTES; k++) different |= (unsigned)(a[k] ^ b[k]);
    return different == 0;
}
