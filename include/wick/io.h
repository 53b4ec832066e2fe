/* SPDX-License-Identifier: Apache-2.0 */
/* wick/io.h: tensors in safetensors files, from and to any device.
 *
 * The functions that read also read GGUF files, versions 2 and 3, which their first bytes identify. Tensors of the
 * types F32, F16, BF16, F64 and I8 to I64 keep their dtype; quantised ones, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to
 * Q6_K, IQ4_NL and IQ4_XS, become f32. Shapes are in the order of PyTorch, the reverse of that in the file. Values of
 * the metadata become texts: numbers in decimal, arrays as JSON.
 *
 * A file is replaced entirely or not at all: at every moment, also after a kill or with a full disk, it is the old
 * or the new one. Files are validated when read. */
#ifndef WICK_IO_H
#define WICK_IO_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pair of the metadata of a file. */
typedef struct wk_file_pair {
    const char *key, *value;
} wk_file_pair;

typedef struct wk_save_options {
    size_t size;
    wk_by_name by_name;
    const wk_file_pair *metadata; /* texts in UTF-8 that the file keeps beside the tensors; default NULL, none */
    int64_t pairs;                /* number of them */
} wk_save_options;
/* wk_save(m, path): Writes all parameters and buffers of m by their paths. wk_load_info returns the metadata.
 *     const wk_file_pair about[] = {{"wick.model", "lenet"}};
 *     wk_save(net, "lenet.safetensors", .metadata = about, .pairs = 1);
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_ARGUMENT if a key or value of .metadata is NULL or not
 *            UTF-8, or two keys are equal
 * PyTorch:   torch.save(m.state_dict(), path); with .metadata safetensors.torch.save_file */
WK_API wk_code wk_save_at(wk_site site, wk_module *m, const char *path, const wk_save_options *options);
typedef struct wk_load_options {
    size_t size;
    wk_by_name by_name;
    double strict; /* true or false: the file must have exactly the names of m; default true. With false, only the
                    * tensors that both have are loaded */
    const char *const **missing;    /* if set, receives the names of the tensors of m that the file lacks */
    const char *const **unexpected; /* if set, receives the names of the tensors of the file that m lacks */
    bool convert;                   /* convert elements to the dtypes of m; default false */
    bool mmap;                      /* map the file into memory instead of reading it; default false */
    char reserved[6];
} wk_load_options;
/* wk_load(m, path): Reads parameters and buffers into m, on whatever device they are. Handles stay valid. All
 * names, shapes and dtypes of m and the file must match; the message names the first mismatch, and m does not
 * change. With .strict = false (WK_EXPLICIT_ZERO in C++), names may differ, with .convert = true dtypes.
 *     const char *const *missing;
 *     wk_load(net, "backbone.safetensors", .strict = false, .missing = &missing);
 *     for (; missing && *missing; missing++) puts(*missing);
 * Mapping:   with .mmap, tensors on the CPU stay in the pages of the file, as with wk_nn_pretrained (language.h)
 * Lifetime:  the lists end with NULL, and exist until the innermost scope closes; outside any scope, until m is freed
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_FORMAT if the file is invalid; WK_ERR_DTYPE if only
 *            the dtype of a tensor differs; WK_ERR_SHAPE for any other mismatch
 * PyTorch:   m.load_state_dict(torch.load(path), strict) */
WK_API wk_code wk_load_at(wk_site site, wk_module *m, const char *path, const wk_load_options *options);

/* wk_save_tensors(list, path): Writes a list of tensors by their names.
 * Returns:   WK_OK or an error code, as wk_save */
WK_API wk_code wk_save_tensors_at(wk_site site, wk_tensors *list, const char *path);
/* wk_load_tensors(path): Reads all tensors of a file onto the default device (WK_DEVICE, else the CPU).
 * Returns:   the list, owned by the innermost scope; NULL on error
 * Errors:    as wk_load */
WK_RESULT_API wk_tensors *wk_load_tensors_at(wk_site site, const char *path);
/* wk_load_tensor(path, name): Reads one tensor of a file onto the default device (WK_DEVICE, else the CPU).
 * Errors:    as wk_load; WK_ERR_ARGUMENT if the file has no tensor of this name */
WK_RESULT_API wk_tensor *wk_load_tensor_at(wk_site site, const char *path, const char *name);

/* A tensor in a file. */
typedef struct wk_file_tensor {
    const char *name;
    wk_dtype dtype;         /* with which the tensor is read; 0 if the library has no such dtype */
    const char *dtype_name; /* as in the file, "F32", "Q4_K" */
    int ndim;
    const int64_t *shape;
    int64_t bytes; /* of its elements in the file */
} wk_file_tensor;
/* The contents of a file. Both arrays are sorted and ended by NULL. */
typedef struct wk_file_info {
    int64_t count, pairs; /* number of tensors; number of pairs */
    const wk_file_tensor *const *tensors;
    const wk_file_pair *const *metadata;
} wk_file_info;
/* wk_load_info(path): Returns names, shapes and dtypes of the tensors of a file, and its metadata, without reading
 * the data. The innermost scope owns the result.
 * Errors:    as wk_load; WK_ERR_STATE outside any scope */
WK_RESULT_API const wk_file_info *wk_load_info_at(wk_site site, const char *path);

#define wk_save_tensors(list, path) wk_save_tensors_at(WK_HERE, list, path)
#define wk_load_tensors(path)       WK_NEW_TENSORS_(wk_load_tensors_at(WK_HERE, path))
#define wk_load_tensor(path, name)  WK_NEW_TENSOR_(wk_load_tensor_at(WK_HERE, path, name))
#define wk_load_info(path)          wk_load_info_at(WK_HERE, path)

#ifndef __cplusplus
#define wk_save(m, ...) WK_OPT2_(wk_code, wk_save, wk_save_options, "m, path", m, __VA_ARGS__)
#define wk_load(m, ...) WK_OPT2_(wk_code, wk_load, wk_load_options, "m, path", m, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
