/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC with SHA-256 (RFC 2104, FIPS 180-4), for the handshake. */
#ifndef WICK_DISTRIBUTED_TCP_HMAC_H
#define WICK_DISTRIBUTED_TCP_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WK__SHA256_BYTES = 32, WK__SHA256_BLOCK = 64 };

typedef struct wk__sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[WK__SHA256_BLOCK];
} wk__sha256;
void wk__sha256_begin(wk__sha256 *hash);
void wk__sha256_add(wk__sha256 *hash, const void *data, size_t bytes);
void wk__sha256_end(wk__sha256 *hash, uint8_t digest[WK__SHA256_BYTES]);

/* Computes the MAC of the concatenated parts. */
typedef struct wk__hmac_part {
    const void *data;
    size_t bytes;
} wk__hmac_part;
void wk__hmac(const char *secret, const wk__hmac_part *part, int parts, uint8_t mac[WK__SHA256_BYTES]);
/* Returns true if the MACs are equal, in constant time. */
bool wk__hmac_equal(const uint8_t a[WK__SHA256_BYTES], const uint8_t b[WK__SHA256_BYTES]);

#endif
