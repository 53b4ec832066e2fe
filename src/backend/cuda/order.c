/* SPDX-License-Identifier: Apache-2.0 */
/* Large uploads have a stream of their own, so that the device copies while it computes. What two streams do with one
 * block keeps the order of the calls: the one waits for an event of the other. Uses are numbered, and a table has for
 * each block its last use by the stream that computes, and the last upload into it; pieces of ranges have tables of
 * their own (ranges.c). */
#include "device.h"

#include "../../base/integers.h"

/* The places of the table are few: whoever takes another block's leaves its use behind for all that are not there. */
static wk__cuda_use *use_of(wk__cuda_order *order, const void *block)
{
    const int place = wk__cuda_place_of(block);
    wk__cuda_use *use = &order->use[place], *others = &order->others;
    if (order->block[place] == block) return use;
    others->number = wk__most(others->number, use->number);
    others->upload = wk__most(others->upload, use->upload);
    *use = *others;
    order->block[place] = block;
    return use;
}

/* The uses of all parts that are told apart: a block is one, a piece of a range has as many as units. */
static wk__cuda_use *uses_of(wk__cuda_device *device, const void *block, int64_t *count)
{
    wk__cuda_use *uses = wk__cuda_range_uses(device, block, count);
    if (uses != NULL) return uses;
    *count = 1;
    return use_of(&device->order, block);
}

static CUresult event_of(CUevent *event)
{
    return *event != NULL ? CUDA_SUCCESS : wk__cuda.EventCreate(event, CU_EVENT_DISABLE_TIMING);
}

/* The stream that computes waits for that upload and those before it. */
static CUresult wait_for_upload(wk__cuda_device *device, int64_t upload)
{
    wk__cuda_order *order = &device->order;
    if (upload <= order->awaited_upload) return CUDA_SUCCESS;
    const CUresult error = wk__cuda.StreamWaitEvent(device->stream, order->uploaded[upload % WK__CUDA_UPLOADS], 0);
    if (error == CUDA_SUCCESS) order->awaited_upload = upload;
    return error;
}

CUresult wk__cuda_order_use(wk__cuda_device *device, const void *block)
{
    int64_t count, upload = 0;
    wk__cuda_use *uses = uses_of(device, block, &count);
    const int64_t number = ++device->order.number;
    for (int64_t k = 0; k < count; k++) {
        uses[k].number = number;
        upload = wk__most(upload, uses[k].upload);
    }
    return wait_for_upload(device, upload);
}

CUresult wk__cuda_order_all(wk__cuda_device *device)
{
    return wait_for_upload(device, device->order.upload);
}

CUresult wk__cuda_order_begin_upload(wk__cuda_device *device, const void *block)
{
    wk__cuda_order *order = &device->order;
    int64_t count, last = 0;
    const wk__cuda_use *uses = uses_of(device, block, &count);
    for (int64_t k = 0; k < count; k++) last = wk__most(last, uses[k].number);
    CUresult error = event_of(&order->uploaded[(order->upload + 1) % WK__CUDA_UPLOADS]);
    if (error == CUDA_SUCCESS && device->large.stream == NULL)
        error = wk__cuda.StreamCreate(&device->large.stream, CU_STREAM_NON_BLOCKING);
    if (last <= order->awaited_number || error != CUDA_SUCCESS) return error;
    if (last > order->computed_number) {
        error = event_of(&order->computed);
        if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(order->computed, device->stream);
        if (error == CUDA_SUCCESS) order->computed_number = order->number;
    }
    if (error == CUDA_SUCCESS) error = wk__cuda.StreamWaitEvent(device->large.stream, order->computed, 0);
    if (error == CUDA_SUCCESS) order->awaited_number = order->computed_number;
    return error;
}

/* An upload that no event tells of is waited for here: nobody else would. */
CUresult wk__cuda_order_end_upload(wk__cuda_device *device, const void *block)
{
    wk__cuda_order *order = &device->order;
    const CUevent event = order->uploaded[(order->upload + 1) % WK__CUDA_UPLOADS];
    const CUresult error = wk__cuda.EventRecord(event, device->large.stream);
    if (error != CUDA_SUCCESS) {
        wk__cuda.StreamSynchronize(device->large.stream);
        return error;
    }
    int64_t count;
    wk__cuda_use *uses = uses_of(device, block, &count);
    order->upload++;
    for (int64_t k = 0; k < count; k++) uses[k].upload = order->upload;
    return CUDA_SUCCESS;
}

void wk__cuda_order_end(wk__cuda_device *device)
{
    wk__cuda_order *order = &device->order;
    for (int k = 0; k < WK__CUDA_UPLOADS; k++)
        if (order->uploaded[k] != NULL) wk__cuda.EventDestroy_v2(order->uploaded[k]);
    if (order->computed != NULL) wk__cuda.EventDestroy_v2(order->computed);
    if (device->large.stream != NULL) wk__cuda.StreamDestroy_v2(device->large.stream);
}
