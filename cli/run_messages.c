/* SPDX-License-Identifier: Apache-2.0 */
/* Byte queues, and the messages between launcher and agents (run.h). A message is
 *
 *     byte 0   1..3   4..7     8
 *     kind     rank   length   bytes, then a 0            integers are little-endian */
#include "run.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 8, MOST_MESSAGE = 1 << 20 }; /* words of a command line are at most 128 KiB */

/* ---- byte queues ------------------------------------------------------------------------------------------------- */

/* Returns room for `count` more bytes. On allocation failure the process exits; the other processes of `wick run` then
 * end everything that it started. */
static uint8_t *extend(run_buffer *queue, size_t count)
{
    if (queue->first > 0 && queue->first + queue->count + count > queue->room) {
        memmove(queue->bytes, queue->bytes + queue->first, queue->count);
        queue->first = 0;
    }
    if (queue->count + count > queue->room) {
        const size_t room = 2 * (queue->count + count);
        uint8_t *bytes = realloc(queue->bytes, room);
        if (!bytes) {
            fprintf(stderr, "wick run: out of memory\n");
            _exit(CLI_FAILED);
        }
        queue->bytes = bytes;
        queue->room = room;
    }
    return queue->bytes + queue->first + queue->count;
}

void run_buffer_append(run_buffer *queue, const void *bytes, size_t count)
{
    if (count == 0) return;
    memcpy(extend(queue, count), bytes, count);
    queue->count += count;
}

void run_buffer_consume(run_buffer *queue, size_t count)
{
    queue->first += count;
    queue->count -= count;
    if (queue->count == 0) queue->first = 0;
}

void run_buffer_free(run_buffer *queue)
{
    free(queue->bytes);
    *queue = (run_buffer){0};
}

bool run_buffer_write(run_buffer *queue, int fd, bool gently)
{
    while (queue->count > 0) {
        const size_t most = gently && queue->count > PIPE_BUF ? PIPE_BUF : queue->count;
        const ssize_t gone = write(fd, queue->bytes + queue->first, most);
        if (gone < 0 && errno == EINTR) continue;
        if (gone < 0) return errno == EAGAIN;
        run_buffer_consume(queue, (size_t)gone);
        if (gently) return true;
    }
    return true;
}

ssize_t run_buffer_read(run_buffer *queue, int fd)
{
    uint8_t *to = extend(queue, RUN_MOST_BYTES);
    ssize_t got;
    do got = read(fd, to, RUN_MOST_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EAGAIN ? 0 : -1;
    queue->count += (size_t)got;
    return got == 0 ? -1 : got;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

void run_send(run_buffer *queue, run_kind kind, int rank, const void *bytes, size_t count)
{
    const uint32_t number = (uint32_t)rank, length = (uint32_t)count;
    const uint8_t head[HEAD] = {(uint8_t)kind,           (uint8_t)number,        (uint8_t)(number >> 8),
                                (uint8_t)(number >> 16), (uint8_t)length,        (uint8_t)(length >> 8),
                                (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
    run_buffer_append(queue, head, HEAD);
    run_buffer_append(queue, bytes, count);
    run_buffer_append(queue, "", 1);
}

void run_send_text(run_buffer *queue, run_kind kind, int rank, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    run_send(queue, kind, rank, text, strlen(text));
}

int run_message_next(run_buffer *queue, run_message *frame)
{
    if (queue->count < HEAD) return 0;
    const uint8_t *head = queue->bytes + queue->first;
    const size_t count = (size_t)head[4] | (size_t)head[5] << 8 | (size_t)head[6] << 16 | (size_t)head[7] << 24;
    const int rank = head[1] | head[2] << 8 | head[3] << 16;
    if (head[0] == 0 || head[0] >= RUN_KINDS || rank >= RUN_MOST_RANKS || count > MOST_MESSAGE) return -1;
    if (queue->count < HEAD + count + 1) return 0;
    if (head[HEAD + count] != 0) return -1;
    *frame = (run_message){.kind = head[0], .rank = rank, .count = count, .text = (const char *)head + HEAD};
    return 1;
}

void run_message_consume(run_buffer *queue, const run_message *frame)
{
    run_buffer_consume(queue, HEAD + frame->count + 1);
}
