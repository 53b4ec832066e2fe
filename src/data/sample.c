/* SPDX-License-Identifier: Apache-2.0 */
/* Samples for functions of the user (sample.h), and wk_data_get. */
#include "sample.h"
#include "base/alloc.h"
#include "ir/random.h"
#include <string.h>

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

wk_tensor *wk__sample_tensor(wk__sample_part *part, wk_site site)
{
    if (part->tensor) return part->tensor;
    const wk__sample_array *array = part->array;
    void *converted = NULL;
    const void *data = (const char *)array->data + part->row * array->stored_bytes;
    if (array->convert) {
        data = converted = wk__alloc((size_t)array->batch_bytes);
        if (!converted) {
            wk__error_set(site, WK_ERR_MEMORY, "data: out of host memory for a sample");
            return NULL;
        }
        wk__sample_array_write(array, part->row, converted);
    }
    const wk_tensor_options options = {.size = sizeof options, .device = wk_cpu()};
    part->tensor =
        wk_from_on_at(site, array->dtype, data, (size_t)array->batch_bytes, array->shape, array->ndim, &options);
    wk__free(converted);
    return part->tensor;
}

bool wk__sample_to_user(wk__sample *in, int64_t index, wk_site site, wk_sample *out)
{
    *out = (wk_sample){.count = in->count, .index = index};
    for (int k = 0; k < in->count; k++)
        if (!(out->tensors[k] = wk__sample_tensor(&in->part[k], site))) return false;
    return true;
}

bool wk__sample_from_user(const wk_sample *in, const char *op, wk_site site, wk__sample *out)
{
    if (in->count < 1 || in->count > WK_SAMPLE_TENSORS) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: the function set sample->count, the number of tensors, to %d; it must be in [1, %d]", op,
                      in->count, WK_SAMPLE_TENSORS);
        return false;
    }
    *out = (wk__sample){.count = in->count};
    for (int k = 0; k < in->count; k++) {
        char role[60];
        snprintf(role, sizeof role, "tensor %d that the function set", k);
        if (!in->tensors[k])
            wk__error_set(site, WK_ERR_STATE, "%s: %s is NULL", op, role);
        else
            wk__check_tensor(in->tensors[k], site, op, role);
        if (wk__error_pending()) return false;
        out->part[k].tensor = in->tensors[k];
    }
    return true;
}

bool wk__sample_failed(const char *op, wk_site site)
{
    wk__error_set(site, WK_ERR_STATE, "%s: the function failed without an error", op);
    return false;
}

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

void wk__sample_begin_stream(wk_context *context, uint64_t seed, uint64_t epoch, int64_t sample)
{
    uint32_t word[4];
    wk__philox(~(uint64_t)sample, epoch, seed, word);
    context->key = word[0] | (uint64_t)word[1] << 32;
    context->counter = 0;
}

void wk__shuffle(int64_t *numbers, int64_t n, uint64_t seed, uint64_t epoch)
{
    for (int64_t k = n - 1; k > 0; k--) {
        uint32_t word[4];
        wk__philox((uint64_t)k, epoch, seed, word);
        const uint64_t bits = word[0] | (uint64_t)word[1] << 32;
        const int64_t other = (int64_t)wk__random_below(bits, (uint64_t)k + 1), held = numbers[k];
        numbers[k] = numbers[other];
        numbers[other] = held;
    }
}

/* ---- single samples ---------------------------------------------------------------------------------------------- */

wk_code wk_data_get_at(wk_site site, wk_dataset *data, int64_t index, wk_sample *out)
{
    static const char op[] = "data_get";
    if (out) *out = (wk_sample){0};
    if (!wk__dataset_check(data, site, op)) return wk_error_code();
    const wk__dataset *body = wk__dataset_of(data);
    char name[60];
    wk__call_scope c;
    wk__sample sample = {0};
    wk_sample result = {0};
    if (!out)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the sample is NULL", op);
    else if (index < 0 || index >= body->count)
        wk__error_set(site, WK_ERR_INDEX, "%s: index %lld is out of range for %lld samples", op, (long long)index,
                      (long long)body->count);
    if (wk__error_pending()) return wk_error_code();
    snprintf(name, sizeof name, "sample %lld of data_get", (long long)index);
    if (!wk__callback_begin(&c, name, site)) return wk_error_code();
    const bool fine =
        wk__dataset_get(body, index, &sample) && wk__sample_to_user(&sample, index, site, &result) && !wk_error();
    wk__call_end(&c, result.tensors, fine ? result.count : 0);
    if (fine) *out = result;
    return wk_error_code();
}
