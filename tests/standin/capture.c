/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture, only as far as needed to refuse calls that are forbidden during a capture. Work in a captured stream
 * is not supported. */
#include "streams.h"

#include <string.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };
static _Thread_local int mode_here;
static _Thread_local char here; /* its address identifies the thread */

/* Returns true for calls that may wait for a stream, and so for a captured one. */
static bool may_disturb(const char *name)
{
    static const char *const names[] = {"cuMemAlloc_v2",  "cuMemFree_v2",        "cuMemHostAlloc",     "cuMemFreeHost",
                                        "cuModuleUnload", "cuModuleLoadData",    "cuEventSynchronize", "cuEventQuery",
                                        "cuStreamQuery",  "cuStreamSynchronize", "cuCtxSynchronize"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(names[k], name) == 0) return true;
    return false;
}

result capture_check(const char *name)
{
    if (mode_here == RELAXED || !may_disturb(name)) return SUCCESS;
    result code = SUCCESS;
    for (int d = 0; d < DEVICES; d++) {
        for (stream *s = contexts[d].streams; s != NULL; s = s->next) {
            if (s->captured_by == NULL || s->capture_mode == RELAXED) continue;
            if (s->captured_by != &here && (s->capture_mode != GLOBAL || mode_here != GLOBAL)) continue;
            s->invalidated = true;
            code = STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return code;
}

CALL cuThreadExchangeStreamCaptureMode(int *mode)
{
    result code = call_begin(NEEDS_NOTHING);
    if (code == SUCCESS && (*mode < GLOBAL || *mode > RELAXED)) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    const int before = mode_here;
    mode_here = *mode;
    *mode = before;
    return call_end(SUCCESS);
}

CALL cuStreamBeginCapture_v2(void *handle, int mode)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code == SUCCESS && (s == s->context->streams || mode < GLOBAL || mode > RELAXED)) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    s->captured_by = &here;
    s->capture_mode = mode;
    s->invalidated = false;
    return call_end(SUCCESS);
}

/* Always returns no graph. */
CALL cuStreamEndCapture(void *handle, void **graph)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code == SUCCESS && s->captured_by != &here) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    s->captured_by = NULL;
    *graph = NULL;
    return call_end(s->invalidated ? STREAM_CAPTURE_INVALIDATED : SUCCESS);
}
