/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of every safetensors file that the parser accepts. */
#ifndef WICK_TESTS_HOSTILE_CHECK_SAFETENSORS_H
#define WICK_TESTS_HOSTILE_CHECK_SAFETENSORS_H

#include "file.h"
#include "io/safetensors.h"

static inline bool same_tensor(const wk__safetensors_tensor *a, const wk__safetensors_tensor *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->dtype_name, b->dtype_name) == 0 && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

/* Checks that the tensors are contiguous from the begin of the data to the end of the file, that their names are sorted
 * and distinct, and that each is found by its name. Returns NULL or the problem. */
static inline const char *check_parsed(const wk__safetensors *in, int64_t file_bytes)
{
    int64_t covered = 0;
    for (int64_t k = 0; k < in->count; k++) {
        const wk__safetensors_tensor *tensor = &in->tensors[k];
        if (tensor->begin != covered || tensor->end < covered) return "the data is not covered in order";
        covered = tensor->end;
        for (int d = 0; d < tensor->ndim; d++)
            if (tensor->shape[d] < 0) return "a dimension is negative";
        if (tensor->position < 8 || tensor->position >= in->data_start) return "a position is outside the header";
        if (k > 0 && strcmp(in->by_name[k - 1]->name, in->by_name[k]->name) >= 0) return "the names are not in order";
        if (wk__safetensors_find(in, tensor->name) != tensor) return "a tensor is not found by its name";
    }
    for (int64_t k = 1; k < in->metadata_count; k++)
        if (strcmp(in->metadata[k - 1].key, in->metadata[k].key) >= 0) return "the keys are not in order";
    return in->data_start + covered == file_bytes ? NULL : "the data does not end with the file";
}

/* Checks that writing the header and reading it again preserves everything. Returns NULL or the problem. */
static inline const char *check_written(const wk__safetensors *in)
{
    wk__io_error error;
    wk__safetensors_layout layout;
    wk__safetensors again;
    for (int64_t k = 0; k < in->count; k++)
        if (in->tensors[k].dtype == 0) return NULL; /* Wick does not write this dtype */
    bytes copy = bytes_copy(in->tensors, in->count * (int64_t)sizeof *in->tensors);
    wk_code code =
        wk__safetensors_layout_build((void *)copy.data, in->count, in->metadata, in->metadata_count, &layout, &error);
    const char *problem = code == WK_OK ? NULL : "the parsed file cannot be written";
    if (!problem) {
        int64_t bytes = layout.header_text.length + layout.data_bytes;
        code = wk__safetensors_parse(layout.header_text.data, layout.header_text.length, bytes, &again, &error);
        if (code != WK_OK) problem = "the written file cannot be read";
        wk__safetensors_layout_end(&layout);
    }
    if (!problem) {
        if (again.count != in->count || again.metadata_count != in->metadata_count) problem = "something was lost";
        for (int64_t k = 0; k < in->count && !problem; k++)
            if (!same_tensor(again.by_name[k], in->by_name[k])) problem = "a tensor has changed";
        for (int64_t k = 0; k < in->metadata_count && !problem; k++)
            if (strcmp(again.metadata[k].key, in->metadata[k].key) ||
                strcmp(again.metadata[k].value, in->metadata[k].value))
                problem = "metadata has changed";
        wk__safetensors_end(&again);
    }
    free(copy.data);
    return problem;
}

#endif
