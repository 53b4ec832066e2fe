/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the bytes that processes exchange: hashes and proofs, frames, handshakes, and a million mutations of them. */
#include "support/wick.h"

#include "hostile/frames.h"

#include "distributed/tcp/hmac.h"
#include <zlib.h>

/* ---- hashes and proofs ------------------------------------------------------------------------------------------- */

static void expect_hex(const uint8_t digest[WK__SHA256_BYTES], const char *hex)
{
    char text[2 * WK__SHA256_BYTES + 1];
    for (int k = 0; k < WK__SHA256_BYTES; k++) snprintf(text + 2 * k, 3, "%02x", digest[k]);
    assert_string_equal(text, hex);
}

/* The examples of FIPS 180-4, and those of RFC 4231 whose key is a text. */
static void hashes_and_macs(void **state)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    (void)state;
    uint8_t digest[WK__SHA256_BYTES];
    wk__sha256 hash;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wk__sha256_begin(&hash);
        wk__sha256_add(&hash, cases[k].text, strlen(cases[k].text));
        wk__sha256_end(&hash, digest);
        expect_hex(digest, cases[k].hex);
    }
    wk__sha256_begin(&hash);
    for (int k = 0; k < 1000000; k++) wk__sha256_add(&hash, "a", 1);
    wk__sha256_end(&hash, digest);
    expect_hex(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    const wk__hmac_part jefe[] = {{"what do ya want ", 16}, {"for nothing?", 12}};
    wk__hmac("Jefe", jefe, 2, digest);
    expect_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    char longer[132];
    memset(longer, 0xaa, 131);
    longer[131] = '\0';
    const char *said = "Test Using Larger Than Block-Size Key - Hash Key First";
    const wk__hmac_part larger[] = {{said, strlen(said)}};
    wk__hmac(longer, larger, 1, digest);
    expect_hex(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    uint8_t other[WK__SHA256_BYTES];
    for (int k = 0; k < WK__SHA256_BYTES; k++) {
        memcpy(other, digest, sizeof other);
        assert_true(wk__hmac_equal(other, digest));
        other[k] ^= 0x80;
        assert_false(wk__hmac_equal(other, digest));
    }
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void seal(uint8_t at[WK__WIRE_HEADER_BYTES])
{
    wk__put_u32(at + 60, (uint32_t)crc32(crc32(0, NULL, 0), at, 60));
}

static void frames_survive_a_round_trip(void **state)
{
    (void)state;
    for (int kind = 0; kind < WK__WIRE_KINDS; kind++) {
        uint8_t at[WK__WIRE_HEADER_BYTES];
        wk__wire_header in = frames_sample(kind), out;
        memset(&out, 0x55, sizeof out);
        wk__wire_header_write(&in, at);
        assert_null(wk__wire_header_parse(at, &out));
        assert_true(out.kind == kind && out.collective == in.collective && out.dtype == in.dtype);
        assert_true(out.reduction == in.reduction && out.group == in.group && out.root == in.root);
        assert_true(out.detail == in.detail && out.status == in.status && out.rank == in.rank);
        assert_true(out.sequence == in.sequence && out.count == in.count && out.bytes == in.bytes);
    }
}

/* Changes one byte, with or without a matching checksum. */
static void invalid_frames(void **state)
{
    static const struct {
        int place;
        uint8_t value;
        const char *wrong; /* NULL: valid */
    } cases[] = {
        {0, 'w', "not a Wick peer"},
        {4, 2, "another version"},
        {5, 1, "another version"},
        {6, WK__WIRE_KINDS, "invalid header field"},
        {7, WK__DIST_KINDS, "invalid header field"},
        {8, WK_DTYPE_COUNT, "invalid header field"},
        {9, WK_DIST_MAX + 1, "invalid header field"},
        {10, 1, "invalid header field"},
        {11, 1, "invalid header field"},
        {12, 9, NULL},
        {31, 0x80, "invalid header field"}, /* count */
        {36, 9, NULL},
        {40, WK_ERR_TIMEOUT, NULL},
        {40, WK_ERR_TIMEOUT + 1, "invalid header field"},
        {45, 0x80, "invalid header field"}, /* rank */
        {48, 0, NULL},
        {50, 0x02, "invalid message length"}, /* an agreement of 128 KiB */
        {55, 0x80, "invalid message length"},
        {56, 1, "invalid header field"},
        {59, 1, "invalid header field"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint8_t at[WK__WIRE_HEADER_BYTES];
        wk__wire_header frame = frames_sample(WK__WIRE_AGREE);
        wk__wire_header_write(&frame, at);
        at[cases[k].place] = cases[k].value;
        const char *wrong = wk__wire_header_parse(at, &frame);
        if (cases[k].place > 5) assert_non_null(strstr(wrong, "checksum"));
        seal(at);
        wrong = wk__wire_header_parse(at, &frame);
        assert_true(!wrong == !cases[k].wrong);
        if (wrong && !strstr(wrong, cases[k].wrong)) fail_msg("byte %d: %s", cases[k].place, wrong);
    }
    uint8_t at[WK__WIRE_HEADER_BYTES];
    wk__wire_header said = frames_sample(WK__WIRE_AGREE);
    said.status = WK_ERR_SHAPE;
    said.bytes = WK__WIRE_TEXT_MAX + 1;
    wk__wire_header_write(&said, at);
    assert_string_equal(wk__wire_header_parse(at, &said), "text too long");
}

static void names_of_hosts(void **state)
{
    (void)state;
    uint8_t at[WK__WIRE_HOST_BYTES];
    char host[WK__WIRE_HOST_BYTES];
    wk__put_host(at, "node-3.example_x:1");
    wk__get_host(at, host);
    assert_string_equal(host, "node-3.example_x:1");
    wk__put_host(at, "bad\n\x1b[31m%s");
    wk__get_host(at, host);
    assert_string_equal(host, "bad???31m?s");
    memset(at, 'x', sizeof at);
    wk__get_host(at, host);
    assert_int_equal(strlen(host), WK__WIRE_HOST_BYTES - 1);
}

/* ---- handshakes -------------------------------------------------------------------------------------------------- */

static void peers_with_the_secret_are_accepted(void **state)
{
    (void)state;
    uint8_t said[FRAMES_MOST];
    bool proved = false;
    assert_int_equal(frames_conversation(said), FRAMES_MOST);
    assert_null(frames_check(said, sizeof said, &proved));
    assert_true(proved);
    /* The same messages with another nonce of the host are a replay. */
    wk__handshake_server visitor = {.nonce = "another nonce"};
    wk__reply reply;
    size_t took;
    assert_int_equal(wk__handshake_server_feed(&visitor, FRAMES_SECRET, said, sizeof said, &took, &reply),
                     WK__HANDSHAKE_REPLY);
    assert_int_equal(took, WK__HELLO_MESSAGE_BYTES);
    assert_int_equal(
        wk__handshake_server_feed(&visitor, FRAMES_SECRET, said + took, WK__PROOF_MESSAGE_BYTES, &took, &reply),
        WK__HANDSHAKE_REJECTED);
    assert_non_null(memmem(reply.at, reply.bytes, "wrong WICK_SECRET", 17));
    /* A host without the secret gets no proof. */
    uint8_t proof[WK__PROOF_MESSAGE_BYTES];
    wk__wire_parser challenge = {.got = 0};
    visitor = (wk__handshake_server){.nonce = "another nonce"};
    assert_int_equal(
        wk__handshake_server_feed(&visitor, "another secret", said, WK__HELLO_MESSAGE_BYTES, &took, &reply),
        WK__HANDSHAKE_REPLY);
    assert_int_equal(wk__wire_parser_feed(&challenge, reply.at, reply.bytes, &took), WK__PARSE_DONE);
    assert_false(wk__challenge_answer(FRAMES_SECRET, said, &challenge, proof));
    assert_true(wk__challenge_answer("another secret", said, &challenge, proof));
}

/* Impossible ranks and world sizes are refused before anything is computed. */
static void impossible_ranks(void **state)
{
    static const struct {
        uint32_t errand, rank;
        uint64_t size;
        bool good;
    } cases[] = {{0, 0, 1, true},  {1, 1023, 1024, true}, {2, 0, 1, false},
                 {0, 5, 5, false}, {0, 0, 0, false},      {0, 3, 1025, false}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint8_t said[FRAMES_MOST];
        wk__handshake_server visitor = {.challenged = false};
        wk__reply reply;
        size_t took;
        frames_conversation(said);
        wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_HELLO,
                                                 .root = cases[k].errand,
                                                 .rank = cases[k].rank,
                                                 .count = cases[k].size,
                                                 .bytes = WK__WIRE_HELLO_BYTES},
                              said);
        assert_int_equal(
            wk__handshake_server_feed(&visitor, FRAMES_SECRET, said, WK__HELLO_MESSAGE_BYTES, &took, &reply),
            cases[k].good ? WK__HANDSHAKE_REPLY : WK__HANDSHAKE_REJECTED);
    }
}

/* ---- a million mutations ----------------------------------------------------------------------------------------- */

static uint64_t draws = 1;

static uint32_t draw(uint32_t below)
{
    draws ^= draws << 13;
    draws ^= draws >> 7;
    draws ^= draws << 17;
    return (uint32_t)(draws >> 33) % below;
}

enum { MUTATIONS = 1000000, LONGEST = 1024 };

/* A handshake, or a frame and its payload. */
static size_t original(uint8_t bytes[LONGEST], const uint8_t handshake[FRAMES_MOST])
{
    if (draw(2)) {
        memcpy(bytes, handshake, FRAMES_MOST);
        return FRAMES_MOST;
    }
    const wk__wire_header frame = frames_sample((int)draw(WK__WIRE_KINDS));
    wk__wire_header_write(&frame, bytes);
    for (size_t k = 0; k < frame.bytes; k++) bytes[WK__WIRE_HEADER_BYTES + k] = (uint8_t)draw(256);
    return WK__WIRE_HEADER_BYTES + frame.bytes;
}

/* Bytes are changed, removed, duplicated or truncated; half of the frames get a matching checksum. */
static size_t mutate(uint8_t bytes[LONGEST], size_t size)
{
    for (uint32_t n = 1 + draw(3); n > 0 && size > 0; n--) {
        const size_t at = draw((uint32_t)size), more = draw((uint32_t)(size - at)) + 1;
        switch (draw(5)) {
        case 0: bytes[at] ^= (uint8_t)(1 << draw(8)); break;
        case 1: bytes[at] = (uint8_t)draw(256); break;
        case 2: size = at; break;
        case 3:
            memmove(bytes + at, bytes + at + more, size - at - more);
            size -= more;
            break;
        default:
            if (size + more > LONGEST) break;
            memmove(bytes + at + more, bytes + at, size - at);
            size += more;
        }
    }
    if (size >= WK__WIRE_HEADER_BYTES && draw(2)) seal(bytes);
    if (size >= FRAMES_MOST && draw(2)) seal(bytes + WK__HELLO_MESSAGE_BYTES);
    return size;
}

static void a_million_mutations(void **state)
{
    (void)state;
    uint8_t handshake[FRAMES_MOST], bytes[LONGEST];
    int parsed = 0, unchanged = 0;
    assert_int_equal(frames_conversation(handshake), FRAMES_MOST);
    for (int k = 0; k < MUTATIONS; k++) {
        wk__wire_header frame;
        bool proved = false;
        const size_t size = mutate(bytes, original(bytes, handshake));
        uint8_t *copy = malloc(size + 1); /* detects reads past the end */
        memcpy(copy, bytes, size);
        const char *wrong = frames_check(copy, size, &proved);
        const bool same = size >= FRAMES_MOST && memcmp(copy, handshake, FRAMES_MOST) == 0;
        parsed += size >= WK__WIRE_HEADER_BYTES && !wk__wire_header_parse(copy, &frame);
        unchanged += same;
        free(copy);
        if (wrong) fail_msg("mutation %d: %s", k, wrong);
        if (proved && !same) fail_msg("mutation %d: accepted without a valid proof", k);
    }
    assert_true(parsed > MUTATIONS / 10 && unchanged < MUTATIONS / 10); /* mutations reach the code after the header */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_and_macs),
        cmocka_unit_test(frames_survive_a_round_trip),
        cmocka_unit_test(invalid_frames),
        cmocka_unit_test(names_of_hosts),
        cmocka_unit_test(peers_with_the_secret_are_accepted),
        cmocka_unit_test(impossible_ranks),
        cmocka_unit_test(a_million_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
