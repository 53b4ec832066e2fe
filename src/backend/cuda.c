/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend of a build without CUDA: it says so, and lists no device. */
#include "backend.h"

#define NOT_BUILT "this build of Wick has no CUDA backend; opencl serves NVIDIA cards too"

static wk__presence presence(wk__text *why)
{
    wk__text_add(why, NOT_BUILT);
    return WK__NOT_BUILT;
}

static int count(void)
{
    return 0;
}

static wk_code info(int index, wk__device_info *out, wk__fail *fail)
{
    (void)index, (void)out;
    return wk__fail_set(fail, WK_ERR_DEVICE, NOT_BUILT);
}

static wk_code open_device(int index, void **device, wk__fail *fail)
{
    (void)index, (void)device;
    return wk__fail_set(fail, WK_ERR_DEVICE, NOT_BUILT);
}

/* Everything else takes an open device, and none can be opened. */
const wk__backend wk__cuda_backend = {
    .version = WK__BACKEND_VERSION,
    .kind = WK_CUDA,
    .name = "cuda",
    .presence = presence,
    .count = count,
    .info = info,
    .open = open_device,
};
