/* SPDX-License-Identifier: Apache-2.0 */
/* Work in streams: copies, fills and launches. Errors that CUDA detects at the call are reported there, others when the
 * work runs. Host memory is accessed when the work runs. */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* ---- running work ------------------------------------------------------------------------------------------------ */

static void refuse(context *c, const char *what, const char *why)
{
    log_line("%s: %s", what, why);
    c->error = LAUNCH_FAILED;
}

static void copy(context *c, const work *w)
{
    if ((w->to_device && !memory_is_valid(NULL, (uintptr_t)w->to, w->bytes)) ||
        (w->from_device && !memory_is_valid(NULL, (uintptr_t)w->from, w->bytes)))
        refuse(c, "a copy", "the device memory has been freed");
    else if (w->to < w->from + w->bytes && w->from < w->to + w->bytes)
        refuse(c, "a copy", "source and destination overlap");
    else
        memcpy(w->to, w->from, w->bytes);
}

static void fill(context *c, const work *w)
{
    if (!memory_is_valid(c, (uintptr_t)w->to, w->bytes)) {
        refuse(c, "a fill", "the device memory has been freed");
        return;
    }
    for (size_t k = 0; k < w->bytes; k += (size_t)w->width) memcpy(w->to + k, &w->value, (size_t)w->width);
}

static void launch(context *c, const work *w)
{
    const function *f = w->function;
    void *argument[256];
    const char *limit = getenv("STANDIN_SECONDS");
    const result injected = (result)standin_count_call("launch");
    fibres_launch l = {.name = f->name, .shared = w->shared, .arguments = argument};
    if (injected != SUCCESS) {
        c->error = injected;
        return;
    }
    if (!function_is_alive(f)) {
        refuse(c, "a launch", "its module is no longer loaded");
        return;
    }
    l.library = f->module->library;
    l.memory = memory_ranges(c, &l.ranges);
    for (int k = 0; k < f->parameters; k++) argument[k] = (char *)(uintptr_t)w->argument + f->place[k];
    memcpy(l.grid, w->grid, sizeof l.grid);
    memcpy(l.block, w->block, sizeof l.block);
    const char *why = fibres_run(&l, seed_now(), limit != NULL ? atoi(limit) : 100);
    if (why != NULL) refuse(c, f->name, why);
}

void work_run(context *c, const work *w)
{
    switch (w->kind) {
    case WORK_LAUNCH: launch(c, w); break;
    case WORK_COPY: copy(c, w); break;
    case WORK_FILL: fill(c, w); break;
    case WORK_RECORD:
    case WORK_WAIT: break;
    }
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static result add_copy(stream *s, char *to, bool to_device, const char *from, bool from_device, size_t bytes)
{
    if (bytes == 0) return SUCCESS;
    if (to == NULL || from == NULL) return INVALID_VALUE;
    if (to_device ? !memory_is_valid(NULL, (uintptr_t)to, bytes) : memory_is_device(to, bytes)) return INVALID_VALUE;
    if (from_device ? !memory_is_valid(NULL, (uintptr_t)from, bytes) : memory_is_device(from, bytes))
        return INVALID_VALUE;
    work *w = work_new(WORK_COPY, 0);
    if (w == NULL) return OUT_OF_MEMORY;
    w->to = to;
    w->from = from;
    w->to_device = to_device;
    w->from_device = from_device;
    w->bytes = bytes;
    stream_add(s, w);
    return SUCCESS;
}

static char *pointer(address at)
{
    return (char *)(uintptr_t)at;
}

CALL cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    return call_end(code == SUCCESS ? add_copy(s, pointer(to), true, from, false, bytes) : code);
}

CALL cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    return call_end(code == SUCCESS ? add_copy(s, to, false, pointer(from), true, bytes) : code);
}

CALL cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    return call_end(code == SUCCESS ? add_copy(s, pointer(to), true, pointer(from), true, bytes) : code);
}

/* Returns true for a direct copy between the devices. The driver does not specify which device copies, so both need
 * access to the other's memory; without it the copy goes through the host, which is also valid. */
static bool count_copy(const stream *s, const context *to_context, address to, const context *from_context,
                       address from, size_t bytes)
{
    const bool direct = memory_is_valid(from_context, to, bytes) && memory_is_valid(to_context, from, bytes);
    standin_count_call(direct ? "direct copy" : "staged copy");
    standin_count_call(s->computes ? "copy among kernels" : "copy beside kernels");
    return direct;
}

CALL cuMemcpyPeerAsync(address to, context *to_context, address from, context *from_context, size_t bytes, void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code == SUCCESS && (!context_is_alive(to_context) || !context_is_alive(from_context))) code = INVALID_CONTEXT;
    if (code == SUCCESS && bytes > 0 &&
        (!memory_is_valid(to_context, to, bytes) || !memory_is_valid(from_context, from, bytes)))
        code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    if (count_copy(s, to_context, to, from_context, from, bytes) && device_corrupts_peer_copies(to_context->device))
        bytes /= 2;
    return call_end(add_copy(s, pointer(to), true, pointer(from), true, bytes));
}

static result add_fill(stream *s, address to, uint32_t value, int width, size_t count)
{
    const size_t bytes = count * (size_t)width;
    if (to % (unsigned)width != 0) return INVALID_VALUE;
    if (bytes == 0) return SUCCESS;
    if (!memory_is_valid(stream_context(s), to, bytes)) return INVALID_VALUE;
    work *w = work_new(WORK_FILL, 0);
    if (w == NULL) return OUT_OF_MEMORY;
    w->to = pointer(to);
    w->value = value;
    w->width = width;
    w->bytes = bytes;
    stream_add(s, w);
    return SUCCESS;
}

CALL cuMemsetD8Async(address to, unsigned char value, size_t count, void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    return call_end(code == SUCCESS ? add_fill(s, to, value, 1, count) : code);
}

CALL cuMemsetD32Async(address to, unsigned value, size_t count, void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    return call_end(code == SUCCESS ? add_fill(s, to, value, 4, count) : code);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Queues a launch with a copy of its arguments; memory that they point to is not copied. */
static result add_launch(stream *s, function *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                         void *const *argument)
{
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0) return INVALID_VALUE;
    const unsigned most = (unsigned)device_attribute(stream_context(s)->device, 5, 0x7fffffff);
    if (grid[0] > most || grid[1] > 65535 || grid[2] > 65535) return INVALID_VALUE;
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > f->most_threads) return INVALID_VALUE;
    if (f->shared + shared > (f->most_shared > SHARED_BYTES ? f->most_shared : SHARED_BYTES)) return INVALID_VALUE;
    if (f->parameters > 0 && argument == NULL) return INVALID_VALUE;
    work *w = work_new(WORK_LAUNCH, f->argument_bytes);
    if (w == NULL) return OUT_OF_MEMORY;
    for (int k = 0; k < f->parameters; k++) memcpy(w->argument + f->place[k], argument[k], f->bytes[k]);
    memcpy(w->grid, grid, sizeof w->grid);
    memcpy(w->block, block, sizeof w->block);
    w->shared = shared;
    w->function = f;
    stream_add(s, w);
    return SUCCESS;
}

CALL cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, void *handle, void **argument, void **extra)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code == SUCCESS && extra != NULL) code = NOT_SUPPORTED;
    if (code == SUCCESS &&
        (!function_is_alive(f) || f->module->context != stream_context(s) || stream_context(s) != context_current()))
        code = INVALID_HANDLE;
    if (code != SUCCESS) return call_end(code);
    s->computes = true;
    return call_end(add_launch(s, f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, argument));
}
