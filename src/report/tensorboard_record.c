/* SPDX-License-Identifier: Apache-2.0 */
/* Records of event files; see tensorboard_record.h. */
#include "tensorboard_record.h"
#include <pthread.h>
#include <string.h>

/* ---- CRC-32C ----------------------------------------------------------------------------------------------------- */

static uint32_t crc_of_byte[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        crc_of_byte[byte] = crc;
    }
}

uint32_t wk__crc32c(const void *bytes, int64_t count)
{
    const unsigned char *at = bytes;
    uint32_t crc = 0xffffffffu;
    pthread_once(&crc_once, make_crc_table);
    for (int64_t k = 0; k < count; k++) crc = crc >> 8 ^ crc_of_byte[(crc ^ at[k]) & 0xff];
    return ~crc;
}

/* A CRC of bytes that contain CRCs would be weak, so TFRecord rotates it and adds a constant. */
static uint32_t masked_crc(const void *bytes, int64_t count)
{
    const uint32_t crc = wk__crc32c(bytes, count);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* ---- protocol buffers -------------------------------------------------------------------------------------------- */

/* The wire types of fields: how the bytes after the key are read. */
enum { VARINT = 0, FIXED_64 = 1, BYTES = 2, FIXED_32 = 5 };

static void add_little_endian(wk__text *out, uint64_t bits, int bytes)
{
    for (int k = 0; k < bytes; k++) wk__text_add_n(out, &(char){(char)(bits >> 8 * k & 0xff)}, 1);
}

static void add_varint(wk__text *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) wk__text_add_n(out, &(char){(char)((value & 0x7f) | 0x80)}, 1);
    wk__text_add_n(out, &(char){(char)value}, 1);
}

static void add_key(wk__text *out, int field, int wire_type)
{
    add_varint(out, (uint64_t)field << 3 | (uint64_t)wire_type);
}

static void add_double(wk__text *out, int field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_key(out, field, FIXED_64);
    add_little_endian(out, bits, 8);
}

static void add_float(wk__text *out, int field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_key(out, field, FIXED_32);
    add_little_endian(out, bits, 4);
}

static void add_bytes(wk__text *out, int field, const char *bytes, int64_t count)
{
    add_key(out, field, BYTES);
    add_varint(out, (uint64_t)count);
    wk__text_add_n(out, bytes, count);
}

/* Appends a message as a field and frees it. */
static void add_message(wk__text *out, int field, wk__text *message)
{
    if (message->failed) out->failed = true;
    if (!out->failed) add_bytes(out, field, message->data, message->length);
    wk__text_free(message);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Appends an event as a record and frees it. */
static void add_record(wk__text *out, wk__text *event)
{
    wk__text length = {0};
    add_little_endian(&length, (uint64_t)event->length, 8);
    if (event->failed || length.failed) out->failed = true;
    if (!out->failed) {
        wk__text_add_n(out, length.data, length.length);
        add_little_endian(out, masked_crc(length.data, length.length), 4);
        wk__text_add_n(out, event->data, event->length);
        add_little_endian(out, masked_crc(event->data, event->length), 4);
    }
    wk__text_free(&length);
    wk__text_free(event);
}

void wk__tensorboard_add_version(wk__text *out, double wall_time)
{
    static const char version[] = "brain.Event:2";
    wk__text event = {0};
    add_double(&event, 1, wall_time);
    add_bytes(&event, 3, version, sizeof version - 1);
    add_record(out, &event);
}

void wk__tensorboard_add_scalar(wk__text *out, double wall_time, const char *tag, int64_t step, float value)
{
    wk__text event = {0}, summary = {0}, scalar = {0};
    add_bytes(&scalar, 1, tag, (int64_t)strlen(tag));
    add_float(&scalar, 2, value);
    add_message(&summary, 1, &scalar);
    add_double(&event, 1, wall_time);
    if (step != 0) { /* 0 is the default of a field, and is not stored */
        add_key(&event, 2, VARINT);
        add_varint(&event, (uint64_t)step);
    }
    add_message(&event, 5, &summary);
    add_record(out, &event);
}
