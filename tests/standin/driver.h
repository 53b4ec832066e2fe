/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the stand-in for the CUDA driver share. A call holds the lock from call_begin to call_end, and all
 * else here is called in between. Work in streams is late: it is done when somebody waits for it, in an order that the
 * seed gives, as far as events allow. Whatever a kernel does wrong is said on stderr, and is the context's error 719
 * from then on, until the context ends.
 *
 * Read from the environment:
 *   STANDIN             the folder for texts and compiled kernels, else cache/standin of the build
 *   STANDIN_SEED        the order of streams, blocks and warps; looked at by each cuInit
 *   STANDIN_FAIL_AT     n: the n-th call from where the variable has got that value fails with error 999
 *   STANDIN_ERRORS      name=code,name=code@n,name=code@n+: errors of calls of that name, of each, of the n-th, of all
 *                       from that; the name of a launch's turn is launch. One after which a context does nothing more
 *                       stays the context's
 *   STANDIN_ARCH        the compute capability, 86 for 8.6: of the first device, of the second and so on; else 90
 *   STANDIN_ATTRIBUTES  17=1,20=3: attributes of all devices; with a compute mode (20) of 2 or 3 nobody gets a context
 *   STANDIN_FUNCTIONS   3=64: attributes of all functions, here their local memory
 *   STANDIN_DRIVER      12040: the CUDA of the driver, else 13000
 *   STANDIN_OTHERS      1500: MB of the first device, of the second and so on that other processes have. They and the
 *                       100 of a context are nobody's then; else there are some 64, which are missed by nobody
 *   STANDIN_GRANULE     4: MB that the size of a mapping is said to be a multiple of, else 2
 *   STANDIN_MIG         1: the devices are slices of the first card
 *   STANDIN_ENTRIES     32: bytes of what NVML says of each process, else 24
 *   STANDIN_COUNTS      a file that gets the number of calls of each name at the end of the process
 *   STANDIN_DEVICES     1: there is one device, not two
 *   STANDIN_PEERS       0: neither device reaches the other's memory; broken: they do, and of what is copied that way
 *                       only the first half arrives; broken1: so it is towards the second device alone
 *   STANDIN_SECONDS     that a launch may take, else 100
 *   STANDIN_CXX         the host's C++ compiler, else g++
 *   STANDIN_NVRTC       the real NVRTC, and STANDIN_ARCHS what it compiles for (nvrtc.c)
 */
#ifndef STANDIN_DRIVER_H
#define STANDIN_DRIVER_H

#include "fibres.h"
#include "settings.h"

#include <stdbool.h>

/* Of CUresult. */
typedef enum result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEVICE_UNAVAILABLE = 46,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    ECC_UNCORRECTABLE = 214,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    NVLINK_UNCORRECTABLE = 220,
    CONTAINED = 226,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    HARDWARE_STACK_ERROR = 714,
    LAUNCH_FAILED = 719,
    TENSOR_MEMORY_LEAK = 721,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    UNKNOWN = 999
} result;
typedef uint64_t address; /* of device memory */

enum { DEVICES = 2, MULTIPROCESSORS = 132, SHARED_BYTES = 48 << 10, MOST_SHARED_BYTES = FIBRES_SHARED };
static const int64_t DEVICE_BYTES = (int64_t)2 << 30;

typedef struct stream stream;
typedef struct event event;
typedef struct module module;
typedef struct function function;

/* The primary context of a device. */
typedef struct context {
    int device, retained;
    unsigned long long id; /* no two have the same */
    bool destroyed;        /* by a reset; until all that had it have released it, or somebody retains it */
    result error;          /* sticky: every call fails with it */
    unsigned peers;        /* devices whose memory kernels of this one may use, a bit each */
    stream *streams;       /* the first is the default one */
    event *events;
    module *modules;
} context;

/* ---- contexts.c: contexts, and how calls begin and end ----------------------------------------------------------- */

#define CALL __attribute__((visibility("default"))) int

typedef enum call_needs { NEEDS_NOTHING, NEEDS_INIT, NEEDS_CONTEXT } call_needs;
/* Takes the lock. Anything but SUCCESS: the call does nothing and ends with that. */
result call_begin_as(const char *name, call_needs needs);
#define call_begin(needs) call_begin_as(__func__, needs)
/* Lets the lock go; returns what it got. */
int call_end(result code);
/* The calling thread's; NULL: none. */
context *context_current(void);
extern context contexts[DEVICES];
/* Is it one that is in use? */
bool context_is_alive(const context *c);
/* May a device be allowed to use the other one's memory? */
bool device_has_peer_access(int device, int other);
/* Do copies get lost that come to it straight from the other? */
bool device_corrupts_peer_copies(int device);
/* The compute capability, 90 for 9.0, and an attribute of a device. */
int device_architecture(int device);
int device_attribute(int device, int attribute, int otherwise);

/* A random number below that, by the seed. */
unsigned random_u32_below(unsigned below);
uint64_t seed_now(void);
/* Prints a line that begins with "stand-in: ". */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/* ---- memory.c ---------------------------------------------------------------------------------------------------- */

/* Is it all memory that is there? `c`: and that kernels of this context may use. */
bool memory_is_valid(const context *c, address at, size_t bytes);
/* Is any of it in the addresses that device memory has, whether there is memory or not? */
bool memory_is_device(const void *at, size_t bytes);
/* What kernels of the context may use, in the order of addresses. */
const fibres_range *memory_ranges(const context *c, int *count);
void memory_end(context *c);

/* Addresses that are in use: an allocation, or a mapping (virtual_memory.c). */
typedef struct allocation {
    char *start;
    size_t bytes;
    int device;
    unsigned allowed; /* devices that may use it, a bit each */
    bool mapped;
} allocation;

/* Keeps the table in order. NULL: memory is short. */
allocation *piece_add(const allocation *p);
void piece_remove(allocation *p);
/* The one that begins there, NULL: none does. */
allocation *piece_at(address at);
/* Access has changed. */
void ranges_invalidate(void);
/* Addresses that have never been anybody's, with nothing behind them and a page that is nobody's in between. NULL: no
 * more. */
char *va_reserve(size_t bytes, size_t multiple);
/* Takes away what is behind whole pages of them. */
void va_unmap(char *start, size_t bytes);
/* Counts bytes of a device's memory; false: there are not so many. */
bool memory_account(int device, int64_t bytes);
/* Bytes of a device that are used: by other processes, by its context, by allocations and mappings. nvml.c finds it. */
int64_t standin_memory_used(int device);

/* ---- streams.c --------------------------------------------------------------------------------------------------- */

/* A moment in a stream. */
typedef struct sync_point {
    int refs;
    bool done;
    uint64_t time; /* when it came, in nanoseconds */
} sync_point;

typedef enum work_kind { WORK_LAUNCH, WORK_COPY, WORK_FILL, WORK_RECORD, WORK_WAIT } work_kind;

typedef struct work {
    struct work *next;
    work_kind kind;
    char *to;
    const char *from;
    size_t bytes;
    bool to_device, from_device;
    uint32_t value; /* WORK_FILL: of this many bytes each */
    int width;
    sync_point *mark;
    function *function; /* WORK_LAUNCH */
    unsigned grid[3], block[3], shared;
    char argument[]; /* each begins where function_argument says */
} work;

/* Makes the first stream of the context; false: memory is short. */
bool streams_begin(context *c);
/* Frees all streams and events with the work that waits in them. */
void streams_end(context *c);
/* The stream of a handle, NULL: there is none. */
stream *stream_of(void *handle);
context *stream_context(const stream *s);
work *work_new(work_kind kind, size_t argument_bytes);
/* Takes the work over. */
void stream_add(stream *s, work *w);
/* Does all the work of a context. */
void streams_run(context *c);
/* The context has failed: what waits in its streams is left out. */
void streams_drop(context *c);

/* ---- capture.c --------------------------------------------------------------------------------------------------- */

/* May this thread make a call of that name now? */
result capture_check(const char *name);

/* ---- stream_ops.c ------------------------------------------------------------------------------------------------ */

/* Does what the stream of this context says; the context's error says how it went. */
void work_run(context *c, const work *w);

/* ---- modules.c, compile.c ---------------------------------------------------------------------------------------- */

struct function {
    function *next;
    module *module;
    char name[128];
    int parameters;
    uint16_t bytes[256], place[256]; /* of each parameter in a launch's copy of them */
    size_t argument_bytes;
    unsigned shared, most_shared, most_threads; /* static, dynamic with the attribute, by __launch_bounds__ */
};

struct module {
    module *next;
    context *context;
    void *library;
    char *image; /* the cubin */
    function *functions;
};

/* Is it a function of a module that is loaded? */
bool function_is_alive(const function *f);
void modules_end(context *c);
/* A library with the kernels of a cubin, compiled unless it is in the folder; for that compute capability, 0: for any.
 */
result compile_module(const char *image, int architecture, void **library);
/* The name of section k, and where it is; NULL: there is none. */
const char *cubin_section(const char *image, int k, const char **at, size_t *bytes);

#endif
