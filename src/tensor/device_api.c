/* SPDX-License-Identifier: Apache-2.0 */
/* Public device functions: names, counts, properties, memory statistics. */
#include <wick/device.h>
#include "backend/device.h"
#include "base/alloc.h"
#include "base/context.h"
#include "base/platform/fork.h"
#include "base/options.h"
#include "large_values.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */

static wk_device device(int kind, int index)
{
    return (wk_device){(int16_t)kind, (int16_t)index, 0};
}

/* Creates a device from an index argument; `name` is the API function for the error. */
static wk_device checked_device(wk_site site, const char *name, int kind, int index)
{
    if (index >= 0 && index <= INT16_MAX) return device(kind, index);
    wk__error_set(site, WK_ERR_DEVICE, "%s: device index %d is out of range [0, 32767]", name, index);
    return (wk_device){.kind = -1};
}

wk_device wk_cpu(void)
{
    return device(WK_CPU, 0);
}
wk_device wk_cuda_at(wk_site site, int index)
{
    return checked_device(site, "cuda", WK_CUDA, index);
}
wk_device wk_opencl_at(wk_site site, int index)
{
    return checked_device(site, "opencl", WK_OPENCL, index);
}
wk_device wk_gpu_at(wk_site site, int index)
{
    return checked_device(site, "gpu", WK_GPU, index);
}

bool wk_device_eq(wk_device a, wk_device b)
{
    if (a.kind == 0) a = wk_cpu();
    if (b.kind == 0) b = wk_cpu();
    a = wk__device_resolve(a);
    b = wk__device_resolve(b);
    return a.kind == b.kind && a.index == b.index && a.task == b.task;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int16_t kind;
} kinds[] = {{"cpu", WK_CPU}, {"cuda", WK_CUDA}, {"opencl", WK_OPENCL}, {"gpu", WK_GPU}, {"null", WK_NULL}};

/* Parses an integer up to 32767 and advances *text; returns -1 if there is none. */
static int read_number(const char **text)
{
    int value = 0;
    if (!isdigit((unsigned char)**text)) return -1;
    for (; isdigit((unsigned char)**text); (*text)++)
        if ((value = 10 * value + (**text - '0')) > INT16_MAX) return -1;
    return value;
}

/* Parses exactly "cpu", "cuda:1", ... */
static bool parse_short(const char *text, wk_device *out)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t length = strlen(kinds[k].name);
        if (strncasecmp(text, kinds[k].name, length) != 0) continue;
        const char *rest = text + length;
        int index = 0;
        if (*rest == ':') {
            rest++;
            index = read_number(&rest);
        }
        if (*rest || index < 0 || (kinds[k].kind == WK_CPU && index > 0)) return false;
        *out = device(kinds[k].kind, index);
        return true;
    }
    return false;
}

/* Parses "/job:NAME/replica:N/task:N/device:GPU:0", where all parts but the last are optional; "/GPU:0". */
static bool parse_long(const char *text, wk_device *out)
{
    int task = 0;
    while (*text == '/') {
        const char *part = text + 1;
        if (strncmp(part, "task:", 5) == 0) {
            part += 5;
            if ((task = read_number(&part)) < 0) return false;
        } else if (strncmp(part, "job:", 4) == 0 || strncmp(part, "replica:", 8) == 0) {
            part += strcspn(part, "/");
        } else {
            if (strncmp(part, "device:", 7) == 0) part += 7;
            if (!parse_short(part, out)) return false;
            out->task = task;
            return true;
        }
        text = part;
    }
    return false;
}

wk_device wk_device_parse_at(wk_site site, const char *text)
{
    wk_device out = {0};
    if (text && (text[0] == '/' ? parse_long(text, &out) : parse_short(text, &out))) return out;
    wk__error_set(site, WK_ERR_DEVICE,
                  text ? "device_parse: unknown device \"%.60s\"; expected cpu, cuda, cuda:1, opencl:0, gpu:0 or /GPU:0"
                       : "device_parse: the name is NULL",
                  text);
    return (wk_device){.kind = -1};
}

wk_device(wk_device_parse)(const char *text)
{
    return wk_device_parse_at((wk_site){0}, text);
}

/* Interned strings, never freed, so that one printf may contain several device names. There are few different ones. */
typedef struct interned_text {
    struct interned_text *next;
    char text[];
} interned_text;

static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;
static interned_text *all_texts;

/* Allocates an entry; requires the lock. The first 8 KiB, more than any machine needs, come from static memory. */
static interned_text *alloc_text(size_t length)
{
    static _Alignas(interned_text) char first_texts[8192];
    static size_t used;
    const size_t size = (sizeof(interned_text) + length + _Alignof(interned_text)) & ~(_Alignof(interned_text) - 1);
    if (size > sizeof first_texts - used) return wk__alloc(size);
    used += size;
    return (interned_text *)(void *)(first_texts + used - size);
}

/* Returns the interned copy of `text`; `otherwise` on allocation failure. */
static const char *intern_text(const char *text, const char *otherwise)
{
    pthread_mutex_lock(&texts_lock);
    interned_text *found = all_texts;
    while (found && strcmp(found->text, text) != 0) found = found->next;
    const size_t length = strlen(text);
    if (!found && (found = alloc_text(length)) != NULL) {
        memcpy(found->text, text, length + 1);
        found->next = all_texts;
        all_texts = found;
    }
    pthread_mutex_unlock(&texts_lock);
    return found ? found->text : otherwise;
}

static const char *kind_name(wk_device d)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].kind == d.kind) return kinds[k].name;
    return d.kind == 0 ? "default" : "invalid";
}

const char *wk_device_str(wk_device d)
{
    const char *kind = kind_name(d);
    char text[32];
    if (d.kind <= WK_CPU) return kind;
    snprintf(text, sizeof text, "%s:%d", kind, d.index);
    return intern_text(text, kind);
}

const char *wk_device_full_name(wk_device d)
{
    d = d.kind == 0 ? wk_cpu() : wk__device_resolve(d);
    const char *kind = kind_name(d);
    char upper[16] = "", text[96];
    for (size_t k = 0; kind[k] && k < sizeof upper - 1; k++) upper[k] = (char)toupper((unsigned char)kind[k]);
    snprintf(text, sizeof text, "/job:localhost/replica:0/task:%d/device:%s:%d", (int)d.task, upper, d.index);
    return intern_text(text, kind);
}

/* ---- availability ------------------------------------------------------------------------------------------------ */

int wk_device_count(int kind)
{
    return wk__device_count_of(kind);
}

wk_device wk_try_gpu(int index)
{
    wk_device found = index >= 0 && index <= INT16_MAX ? wk__device_resolve(device(WK_GPU, index)) : (wk_device){0};
    return found.kind ? found : wk_cpu();
}

int wk_try_all_gpus(wk_device *devices, int capacity)
{
    int count = wk__device_count_of(WK_GPU), written = 0;
    if (!devices) capacity = 0;
    for (; written < count && written < capacity; written++)
        devices[written] = wk__device_resolve(device(WK_GPU, written));
    if (written == 0 && capacity > 0) devices[written++] = wk_cpu();
    return written;
}

const char *wk_device_status(int kind)
{
    static const char *const states[] = {"usable",    "not built",      "library not found",
                                         "no driver", "driver too old", "no device"};
    const wk__backend *backend = wk__backend_of(kind);
    if (!backend || kind < 0 || kind > WK_NULL) return "unknown device kind";
    wk__text why = {0}, status = {0};
    wk__backend_status presence = backend->status(&why);
    wk__text_format(&status, "%s: ", states[presence]);
    if (presence == WK__BACKEND_AVAILABLE)
        wk__text_format(&status, "%d device%s", backend->count(), backend->count() == 1 ? "" : "s");
    else
        wk__text_add(&status, why.data ? why.data : "");
    const char *result = status.data ? intern_text(status.data, states[presence]) : states[presence];
    wk__text_free(&why);
    wk__text_free(&status);
    return result;
}

wk__device *wk__device_open(wk_site site, const char *call, wk_device d)
{
    wk__fail fail = {.tag = -1};
    if (d.kind < 0) {
        wk__error_set(site, WK_ERR_DEVICE, "%s: %s", call, WK__INVALID_DEVICE);
        return NULL;
    }
    wk_device found = wk__device_resolve(d.kind == 0 ? wk_cpu() : d);
    if (found.kind == 0) found = d; /* missing gpu:i: the message lists the existing ones */
    wk__device *opened = wk__device_get(found, &fail);
    const bool is_lost = !opened && fail.code == WK_ERR_DEVICE_LOST;
    if (!opened)
        wk__error_set(site, fail.code, "%s: %s%s%s", call, is_lost ? wk_device_str(found) : "", is_lost ? ": " : "",
                      fail.text);
    if (opened && opened->id.kind != WK_CPU && wk__fork_device_unknown())
        wk__fork_record_device(wk_device_str(opened->id), call, site);
    return opened;
}

wk_code wk_device_get_properties_at(wk_site site, wk_device d, wk_device_properties *properties)
{
    wk_device found = wk__device_resolve(d.kind == 0 ? wk_cpu() : d);
    const wk__backend *backend = wk__backend_of(found.kind);
    wk__device_info info;
    wk__fail fail = {.tag = -1};
    if (!backend || found.index < 0 || found.index >= backend->count())
        return wk__device_open(site, "device_get_properties", d) ? WK_OK : wk_error_code();
    memset(&info, 0, sizeof info);
    if (backend->info(found.index, &info, &fail) != WK_OK) {
        wk__error_set(site, WK_ERR_DEVICE, "device_get_properties: %s", fail.text);
        return WK_ERR_DEVICE;
    }
    if (backend->live_info != NULL) backend->live_info(found.index, &info);
    wk_device_properties known = {.size = sizeof known,
                                  .memory_total = info.memory_total,
                                  .memory_free = info.memory_available,
                                  .compute_units = info.compute_units,
                                  .is_gpu = info.is_gpu,
                                  .temperature = info.temperature,
                                  .power = info.power,
                                  .utilisation = info.utilisation,
                                  .power_limit = info.power_limit,
                                  .core_clock = info.core_clock,
                                  .memory_clock = info.memory_clock,
                                  .processes = info.processes};
    memcpy(known.name, info.name, sizeof known.name);
    memcpy(known.vendor, info.vendor, sizeof known.vendor);
    memcpy(known.driver, info.driver, sizeof known.driver);
    memcpy(known.api_version, info.api_version, sizeof known.api_version);
    memcpy(known.process, info.process, sizeof known.process);
    return wk__sized_store(site, "device_get_properties", wk_device_properties, properties, &known);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

wk_code wk_memory_stats_of_at(wk_site site, wk_device d, wk_memory_stats *stats)
{
    wk__device *of = wk__device_open(site, "memory_stats_of", d);
    if (!of) return wk_error_code();
    wk__arena_stats now;
    wk__memory_usage usage = {0};
    wk__arena_stats_of(of->arena, &now);
    if (of->backend->usage) of->backend->usage(of->state, &usage);
    const wk_memory_stats known = {.size = sizeof known,
                                   .live = now.live,
                                   .cached = now.cached,
                                   .peak = now.peak,
                                   .limit = now.limit,
                                   .library = usage.library,
                                   .context = usage.context,
                                   .used = usage.used};
    return wk__sized_store(site, "memory_stats_of", wk_memory_stats, stats, &known);
}

int wk_memory_largest_at(wk_site site, wk_device d, int64_t *bytes, wk_site *sites, int capacity)
{
    wk__device *of = wk__device_open(site, "memory_largest", d);
    if (!of || capacity <= 0) return 0;
    if (bytes && sites) return wk__large_values_list(of, sites, bytes, capacity);
    wk__error_set(site, WK_ERR_ARGUMENT, "memory_largest: %s is NULL", bytes ? "sites" : "bytes");
    return 0;
}

wk_code wk_memory_reset_peak_at(wk_site site, wk_device d)
{
    wk__device *of = wk__device_open(site, "memory_reset_peak", d);
    if (of) wk__arena_reset_peak(of->arena);
    return of ? WK_OK : wk_error_code();
}

wk_code wk_memory_set_limit_at(wk_site site, wk_device d, int64_t bytes)
{
    if (bytes < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "memory_set_limit: bytes must be at least 0 (0 for the default), got %lld",
                      (long long)bytes);
        return WK_ERR_ARGUMENT;
    }
    wk__device *of = wk__device_open(site, "memory_set_limit", d);
    if (of) wk__device_set_limit(of, bytes);
    return of ? WK_OK : wk_error_code();
}

wk_code wk_memory_trim_at(wk_site site, wk_device d)
{
    wk__device *of = wk__device_open(site, "memory_trim", d);
    if (of) wk__arena_trim(of->arena);
    return of ? WK_OK : wk_error_code();
}
