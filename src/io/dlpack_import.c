/* SPDX-License-Identifier: Apache-2.0 */
/* Import of tensors of other libraries by DLPack. The struct is validated completely before it is used. */
#include "base/alloc.h"
#include "ops/core/create.h"
#include "dlpack.h"
#include <string.h>

/* Layout read from a struct, once, before it is validated. */
typedef struct layout {
    wk_dtype dtype;
    int ndim;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    int64_t elements; /* extent from the first to the last element; 0: no elements */
    char *first;
} layout;

/* Records that the elements have no dtype here. */
static bool refuse_dtype(wk_site site, wk_dl_dtype dl)
{
    static const char *const kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    wk__text text = {0};
    wk__text_add(&text, "from_dlpack: unsupported dtype: ");
    if (dl.kind < sizeof kinds / sizeof *kinds)
        wk__text_format(&text, "%s%d", kinds[dl.kind], (int)dl.bits);
    else
        wk__text_format(&text, "DLPack's type %d of %d bits", (int)dl.kind, (int)dl.bits);
    if (dl.lanes != 1) wk__text_format(&text, " in vectors of %d", (int)dl.lanes);
    wk__text_add(&text, "; convert the tensor in its own library");
    wk__error_set_text(site, WK_ERR_DTYPE, &text);
    return false;
}

static bool check_on_host(wk_site site, wk_dl_device device)
{
    if (device.kind == WK_DL_CPU || device.kind == WK_DL_CUDA_HOST || device.kind == WK_DL_ROCM_HOST) return true;
    wk__error_set(site, WK_ERR_DEVICE,
                  "from_dlpack: the tensor is in device memory (DLPack device type %d, id %d), which cannot be shared; "
                  "copy it to the CPU in its own library",
                  (int)device.kind, (int)device.index);
    return false;
}

/* Reads sizes and strides. The stride of a dimension of size 0 or 1 is ignored. */
static bool read_geometry(wk_site site, const wk_dl_tensor *t, layout *l)
{
    wk__create c;
    const wk_tensor_options options = {.size = sizeof options, .dtype = l->dtype, .device = wk_cpu()};
    l->ndim = t->ndim;
    if (l->ndim > 0 && l->ndim <= WK__MAX_DIMS && t->shape)
        memcpy(l->shape, t->shape, sizeof *l->shape * (size_t)l->ndim);
    if (!wk__create_begin(&c, &wk__op_empty, site, t->shape ? l->shape : NULL, l->ndim, &options, l->dtype))
        return false;
    wk__strides_dense(l->ndim, l->shape, l->stride);
    for (int d = 0; d < l->ndim && t->stride; d++)
        if (l->shape[d] > 1) l->stride[d] = t->stride[d];
    for (int d = 0; d < l->ndim; d++)
        if (l->stride[d] < 0) {
            wk__error_set(
                site, WK_ERR_ARGUMENT,
                "from_dlpack: dimension %d has negative stride %lld; make the tensor contiguous in its own library", d,
                (long long)l->stride[d]);
            return false;
        }
    return true;
}

/* Computes the extent and the start address. */
static bool compute_extent(wk_site site, const wk_dl_tensor *t, layout *l)
{
    int64_t last = 0, step, bytes;
    const int64_t size = (int64_t)wk_dtype_size(l->dtype);
    uintptr_t first, end;
    bool fits = true;
    for (int d = 0; d < l->ndim && fits; d++)
        fits = wk__mul_size(l->shape[d] - 1, l->stride[d], &step) && wk__add_size(last, step, &last);
    fits = fits && wk__add_size(last, 1, &l->elements) && wk__mul_size(l->elements, size, &bytes) &&
           !__builtin_add_overflow((uintptr_t)t->data, t->byte_offset, &first) &&
           !__builtin_add_overflow(first, (uintptr_t)bytes, &end);
    if (!t->data) {
        wk__error_set(site, WK_ERR_ARGUMENT, "from_dlpack: the data is NULL");
    } else if (!fits) {
        wk__error_set(site, WK_ERR_SHAPE, "from_dlpack: sizes and strides exceed the address space");
    } else {
        l->first = (char *)t->data + t->byte_offset;
        return true;
    }
    return false;
}

static bool read_tensor(wk_site site, const wk_dl_tensor *t, layout *l)
{
    *l = (layout){.dtype = wk__dl_dtype_of(t->dtype)};
    if (!check_on_host(site, t->device) || (!l->dtype && !refuse_dtype(site, t->dtype)) || !read_geometry(site, t, l))
        return false;
    return wk__numel(l->ndim, l->shape) == 0 || compute_extent(site, t, l);
}

static wk_tensor *import_copy(wk_site site, const layout *l)
{
    const wk_tensor_options options = {.size = sizeof options, .dtype = l->dtype, .device = wk_cpu()};
    int64_t dense[WK__MAX_DIMS];
    if (!l->elements) return wk_empty_at(site, l->shape, l->ndim, &options);
    wk__strides_dense(l->ndim, l->shape, dense);
    if (memcmp(dense, l->stride, sizeof *dense * (size_t)l->ndim) == 0)
        return wk_from_on_at(site, l->dtype, l->first, (size_t)-1, l->shape, l->ndim, &options);
    return wk_from_strided_at(site, l->dtype, l->first, l->shape, l->stride, l->ndim, &options);
}

/* Borrows the memory of the elements and makes a view with the layout of the struct. */
static wk_tensor *import_shared(wk_site site, const layout *l, void (*release)(void *managed), void *managed)
{
    if ((uintptr_t)l->first % wk_dtype_size(l->dtype) != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "from_dlpack: the data is not aligned for %s; copy the tensor in its own library",
                      wk_dtype_str(l->dtype));
        return NULL;
    }
    wk_tensor *out = wk_borrow_at(site, l->dtype, l->first, &l->elements, 1, release, managed);
    if (!out) return NULL;
    wk__body *body = wk__body_of(out);
    body->ndim = (uint8_t)l->ndim;
    memcpy(body->shape, l->shape, sizeof body->shape);
    memcpy(body->stride, l->stride, sizeof body->stride);
    body->known_dense = wk__body_contiguous(body);
    return out;
}

/* Makes the tensor of a public call of this name. The struct is kept until release(managed), which a copy calls
 * immediately. */
static wk_tensor *import_call(const char *name, wk_site site, const wk_dl_tensor *t, bool read_only, void *managed,
                              void (*release)(void *managed))
{
    layout l;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, name, site);
    wk_tensor *out = NULL;
    bool copy = false;
    if (read_tensor(site, t, &l)) {
        copy = read_only || !l.elements;
        out = copy ? import_copy(site, &l) : import_shared(site, &l, release, managed);
    }
    wk__frame_end(context, before);
    if (out && copy) release(managed);
    return out;
}

static void release_versioned(void *managed)
{
    wk_dl_managed_versioned *m = managed;
    if (m->deleter) m->deleter(m);
}

static void release_unversioned(void *managed)
{
    wk_dl_managed_unversioned *m = managed;
    if (m->deleter) m->deleter(m);
}

wk_tensor *wk_from_dlpack_at(wk_site site, wk_dl_managed_versioned *managed)
{
    if (!managed) {
        wk__error_set(site, WK_ERR_ARGUMENT, "from_dlpack: the managed tensor is NULL");
        return NULL;
    }
    if (managed->version.major != WK_DL_MAJOR) { /* other fields may have another layout in that version */
        wk__error_set(site, WK_ERR_UNSUPPORTED,
                      "from_dlpack: unsupported DLPack version %u.%u; export the tensor with version %d",
                      (unsigned)managed->version.major, (unsigned)managed->version.minor, WK_DL_MAJOR);
        return NULL;
    }
    return import_call("from_dlpack", site, &managed->tensor, managed->flags & WK_DL_READ_ONLY, managed,
                       release_versioned);
}

wk_tensor *wk_from_dlpack_unversioned_at(wk_site site, wk_dl_managed_unversioned *managed)
{
    if (!managed) {
        wk__error_set(site, WK_ERR_ARGUMENT, "from_dlpack_unversioned: the managed tensor is NULL");
        return NULL;
    }
    return import_call("from_dlpack_unversioned", site, &managed->tensor, false, managed, release_unversioned);
}
