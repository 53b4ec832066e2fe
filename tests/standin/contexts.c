/* SPDX-License-Identifier: Apache-2.0 */
/* The two devices and their primary contexts, and the begin and end of each call. A lock is held from call_begin to
 * call_end. */
#include "driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

context contexts[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static uint64_t seed;
static _Thread_local struct {
    context *at[32];
    int depth;
} stack;

/* ---- calls ------------------------------------------------------------------------------------------------------- */

unsigned random_u32_below(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed >> 33) % below);
}

uint64_t seed_now(void)
{
    return (uint64_t)random_u32_below(1u << 30) << 30 | random_u32_below(1u << 30);
}

void log_line(const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "stand-in: %s\n", text);
}

context *context_current(void)
{
    return stack.depth > 0 ? stack.at[stack.depth - 1] : NULL;
}

bool context_is_alive(const context *c)
{
    return c >= contexts && c < contexts + DEVICES && c->retained > 0 && !c->destroyed;
}

/* Returns true if this call is number STANDIN_FAIL_AT, counted from 1 since the variable was set to that value. */
static bool fails_now(void)
{
    static long armed, calls;
    const char *at = getenv("STANDIN_FAIL_AT");
    const long now = at != NULL ? atol(at) : 0;
    if (now != armed) calls = 0;
    armed = now;
    return ++calls == armed;
}

/* Returns true for errors after which a context is unusable. 999 is not among them, because STANDIN_FAIL_AT uses it for
 * single failures. */
static bool is_sticky(result code)
{
    switch (code) {
    case ECC_UNCORRECTABLE:
    case NVLINK_UNCORRECTABLE:
    case CONTAINED:
    case ILLEGAL_ADDRESS:
    case LAUNCH_TIMEOUT:
    case ASSERT:
    case TENSOR_MEMORY_LEAK: return true;
    default: return code >= HARDWARE_STACK_ERROR && code <= LAUNCH_FAILED;
    }
}

/* Applies an error from STANDIN_ERRORS. */
static result apply_injected_error(result code)
{
    context *c = context_current();
    if (is_sticky(code) && context_is_alive(c)) {
        c->error = code;
        streams_drop(c);
    }
    return code;
}

result call_begin_as(const char *name, call_needs needs)
{
    const result injected = (result)standin_count_call(name);
    pthread_mutex_lock(&lock);
    if (fails_now()) return UNKNOWN;
    if (injected != SUCCESS) return apply_injected_error(injected);
    const result capture = capture_check(name);
    if (capture != SUCCESS) return capture;
    if (needs == NEEDS_NOTHING) return SUCCESS;
    if (!initialised) return NOT_INITIALIZED;
    if (needs == NEEDS_INIT) return SUCCESS;
    const context *c = context_current();
    return context_is_alive(c) ? c->error : INVALID_CONTEXT;
}

int call_end(result code)
{
    pthread_mutex_unlock(&lock);
    return (int)code;
}

/* Each call takes the seed from STANDIN_SEED, which restarts the same order. */
CALL cuInit(unsigned flags)
{
    const char *given = getenv("STANDIN_SEED");
    result code = call_begin(NEEDS_NOTHING);
    if (code != SUCCESS) return call_end(code);
    if (flags != 0) return call_end(INVALID_VALUE);
    if (!initialised || given != NULL) seed = (given != NULL ? strtoull(given, NULL, 10) : 0) * 0x9e3779b97f4a7c15u + 1;
    initialised = true;
    for (int d = 0; d < DEVICES; d++) contexts[d].device = d;
    return call_end(SUCCESS);
}

CALL cuDriverGetVersion(int *version)
{
    result code = call_begin(NEEDS_NOTHING);
    if (code == SUCCESS) *version = standin_number("STANDIN_DRIVER", 0, 13000);
    return call_end(code);
}

/* ---- error names ------------------------------------------------------------------------------------------------- */

static const struct {
    result code;
    const char *name, *text;
} errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access is not enabled"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/* These take no lock, because callers use them while reporting errors. */
CALL cuGetErrorName(int code, const char **name)
{
    *name = NULL;
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        if ((int)errors[k].code == code) *name = errors[k].name;
    return *name != NULL ? SUCCESS : INVALID_VALUE;
}

CALL cuGetErrorString(int code, const char **text)
{
    *text = NULL;
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
        if ((int)errors[k].code == code) *text = errors[k].text;
    return *text != NULL ? SUCCESS : INVALID_VALUE;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static result check_device(int device)
{
    return device >= 0 && device < DEVICES ? SUCCESS : INVALID_DEVICE;
}

/* Initialises a context, possibly again: at the same address, with none of its previous contents. */
static bool begin(context *c)
{
    static unsigned long long ids;
    c->id = ++ids;
    c->destroyed = false;
    return streams_begin(c);
}

CALL cuDevicePrimaryCtxRetain(context **out, int device)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS) code = check_device(device);
    if (code != SUCCESS) return call_end(code);
    context *c = &contexts[device];
    const int mode = device_attribute(device, 20, 0);
    if (mode == 2 || mode == 3) return call_end(DEVICE_UNAVAILABLE); /* exclusive or prohibited compute mode */
    if ((c->retained == 0 || c->destroyed) && !begin(c)) return call_end(OUT_OF_MEMORY);
    c->retained++;
    *out = c;
    return call_end(SUCCESS);
}

static void empty(context *c)
{
    streams_run(c);
    streams_end(c);
    modules_end(c);
    memory_end(c);
}

/* The last release destroys the context with everything in it, including its error. */
CALL cuDevicePrimaryCtxRelease_v2(int device)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS) code = check_device(device);
    if (code == SUCCESS && contexts[device].retained == 0) code = INVALID_CONTEXT;
    if (code != SUCCESS) return call_end(code);
    context *c = &contexts[device];
    if (--c->retained == 0) {
        empty(c);
        *c = (context){.device = device};
    }
    return call_end(SUCCESS);
}

/* Destroys the context, even if it is retained elsewhere. */
CALL cuDevicePrimaryCtxReset_v2(int device)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS) code = check_device(device);
    if (code != SUCCESS) return call_end(code);
    context *c = &contexts[device];
    if (c->retained > 0 && !c->destroyed) {
        empty(c);
        *c = (context){.device = device, .retained = c->retained, .destroyed = true};
    }
    return call_end(SUCCESS);
}

CALL cuCtxGetId(context *c, unsigned long long *id)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && !context_is_alive(c)) code = INVALID_CONTEXT;
    *id = code == SUCCESS ? c->id : UINT64_MAX; /* no context */
    return call_end(code);
}

CALL cuCtxSetCurrent(context *c)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && c != NULL && !context_is_alive(c)) code = INVALID_CONTEXT;
    if (code != SUCCESS) return call_end(code);
    if (stack.depth > 0) stack.depth--;
    if (c != NULL) stack.at[stack.depth++] = c;
    return call_end(SUCCESS);
}

CALL cuCtxGetCurrent(context **out)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS) *out = context_current();
    return call_end(code);
}

/* Limits cannot be changed, and only that of the stack (0) is known. */
CALL cuCtxGetLimit(size_t *value, int limit)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code == SUCCESS && limit != 0) code = INVALID_VALUE;
    if (code == SUCCESS) *value = 1024;
    return call_end(code);
}

CALL cuCtxPushCurrent_v2(context *c)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && c >= contexts && c < contexts + DEVICES && c->destroyed) code = CONTEXT_IS_DESTROYED;
    if (code == SUCCESS && (!context_is_alive(c) || stack.depth == 32)) code = INVALID_CONTEXT;
    if (code == SUCCESS) stack.at[stack.depth++] = c;
    return call_end(code);
}

CALL cuCtxPopCurrent_v2(context **out)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && stack.depth == 0) code = INVALID_CONTEXT;
    if (code != SUCCESS) return call_end(code);
    stack.depth--;
    if (out != NULL) *out = stack.at[stack.depth];
    return call_end(SUCCESS);
}

bool device_corrupts_peer_copies(int device)
{
    const char *peers = getenv("STANDIN_PEERS");
    if (peers == NULL || strncmp(peers, "broken", 6) != 0) return false;
    return peers[6] == '\0' || peers[6] - '0' == device;
}

bool device_has_peer_access(int device, int other)
{
    return device != other && (device_corrupts_peer_copies(0) || device_corrupts_peer_copies(1) ||
                               standin_number("STANDIN_PEERS", 0, 1) != 0);
}

CALL cuDeviceCanAccessPeer(int *can, int device, int other)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS) code = check_device(device);
    if (code == SUCCESS) code = check_device(other);
    if (code == SUCCESS) *can = device_has_peer_access(device, other);
    return call_end(code);
}

CALL cuCtxEnablePeerAccess(context *peer, unsigned flags)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    context *c = context_current();
    if (flags != 0) return call_end(INVALID_VALUE);
    if (!context_is_alive(peer) || peer == c) return call_end(INVALID_CONTEXT);
    if (!device_has_peer_access(c->device, peer->device)) return call_end(INVALID_DEVICE);
    if (c->peers >> peer->device & 1) return call_end(PEER_ACCESS_ALREADY_ENABLED);
    c->peers |= 1u << peer->device;
    return call_end(SUCCESS);
}

CALL cuCtxDisablePeerAccess(context *peer)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    context *c = context_current();
    if (!context_is_alive(peer) || peer == c) return call_end(INVALID_CONTEXT);
    if (!(c->peers >> peer->device & 1)) return call_end(PEER_ACCESS_NOT_ENABLED);
    c->peers &= ~(1u << peer->device);
    return call_end(SUCCESS);
}
