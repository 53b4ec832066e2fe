/* SPDX-License-Identifier: Apache-2.0 */
/* Output of ranks, line by line (run.h). */
#include "run.h"
#include <string.h>

enum {
    MOST_LINE = 4 << 20, /* longer lines are split here */
    LAST_LINES = 10,
    LAST_COLUMNS = 200,
    MOST_COLUMNS = 600 /* of the very last line, which may be an error with instructions */
};

/* Appends "[3] " and the line at once, so that lines of different ranks do not mix. */
static void append_line(run_buffer *to, int rank, const void *bytes, size_t count)
{
    char name[16];
    run_buffer_append(to, name, (size_t)snprintf(name, sizeof name, "[%d] ", rank));
    run_buffer_append(to, bytes, count);
}

/* Keeps the newest bytes. When the buffer is full, it drops to half, so that short lines need few moves. */
static void append_tail(run_output *voice, const char *bytes, size_t count)
{
    const size_t room = sizeof voice->tail, half = room / 2;
    if (count > half) {
        bytes += count - half;
        count = half;
    }
    if (voice->length + count > room) {
        const size_t stays = half - count;
        memmove(voice->tail, voice->tail + voice->length - stays, stays);
        voice->length = stays;
    }
    memcpy(voice->tail + voice->length, bytes, count);
    voice->length += count;
}

void run_output_write(run_output *voice, run_buffer *to, int rank, int stream, const char *bytes, size_t count,
                      bool raw)
{
    run_buffer *held = &voice->lines[stream];
    if (raw) {
        append_tail(voice, bytes, count);
        run_buffer_append(to, bytes, count);
        return;
    }
    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        const size_t piece = end ? (size_t)(end - bytes) + 1 : count;
        run_buffer_append(held, bytes, piece);
        bytes += piece;
        count -= piece;
        if (!end && held->count < MOST_LINE) return;
        if (!end) run_buffer_append(held, "\n", 1);
        const char *line = (const char *)held->bytes + held->first;
        append_tail(voice, line, held->count);
        append_line(to, rank, line, held->count);
        run_buffer_consume(held, held->count);
    }
}

void run_output_finish(run_output *voice, run_buffer *out, run_buffer *err, int rank)
{
    if (voice->lines[0].count > 0) run_output_write(voice, out, rank, 0, "\n", 1, false);
    if (voice->lines[1].count > 0) run_output_write(voice, err, rank, 1, "\n", 1, false);
}

void run_output_print_tail(const run_output *voice, run_buffer *to)
{
    const char *tail = voice->tail;
    size_t end = voice->length, begin;
    int lines = 0;
    while (end > 0 && tail[end - 1] == '\n') end--;
    for (begin = end; begin > 0; begin--)
        if (tail[begin - 1] == '\n' && ++lines == LAST_LINES) break;
    while (begin < end) {
        const char *stop = memchr(tail + begin, '\n', end - begin);
        const size_t next = stop ? (size_t)(stop - tail) : end;
        const size_t most = next == end ? MOST_COLUMNS : LAST_COLUMNS;
        const size_t shown = next - begin > most ? begin + most : next;
        run_buffer_append(to, "    ", 4);
        for (; begin < shown; begin++) {
            const unsigned char byte = (unsigned char)tail[begin];
            run_buffer_append(to, byte == '\t' ? " " : byte < 0x20 || byte == 0x7f ? "?" : tail + begin, 1);
        }
        run_buffer_append(to, "\n", 1);
        begin = next + 1;
    }
}

void run_output_free(run_output *voice)
{
    run_buffer_free(&voice->lines[0]);
    run_buffer_free(&voice->lines[1]);
}
