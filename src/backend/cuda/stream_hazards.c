/* SPDX-License-Identifier: Apache-2.0 */
/* Ordering of streams. Large uploads and copies to other devices have separate streams, so that the device copies while
 * it computes. Streams that use the same block must do so in the order of the calls: one waits for an event of the
 * other. Uses by the compute stream and copies of each copy stream are numbered; a table contains the last of each per
 * block; virtual address ranges have separate tables (vmem.c). */
#include "device.h"

#include "base/integers.h"

/* Returns the table entry for a block. The table is small: an evicted entry is merged into `evicted`, which applies to
 * all blocks that are not in the table. */
static wk__cuda_last_use *use_of(wk__cuda_hazards *order, const void *block)
{
    const int place = wk__cuda_hazard_slot(block);
    wk__cuda_last_use *use = &order->use[place], *others = &order->evicted;
    if (order->block[place] == block) return use;
    others->compute_seq = wk__max_i64(others->compute_seq, use->compute_seq);
    for (int k = 0; k < WK__CUDA_COPY_STREAMS; k++)
        others->copy_seq[k] = wk__max_i64(others->copy_seq[k], use->copy_seq[k]);
    *use = *others;
    order->block[place] = block;
    return use;
}

/* Returns the uses of all parts of a block that are tracked separately: one for a block, one per page of a range. */
static wk__cuda_last_use *uses_of(wk__cuda_device *device, const void *block, int64_t *count)
{
    wk__cuda_last_use *uses = wk__cuda_range_last_uses(device, block, count);
    if (uses != NULL) return uses;
    *count = 1;
    return use_of(&device->order, block);
}

/* Returns the maxima over all parts. */
static wk__cuda_last_use last_of(const wk__cuda_last_use *uses, int64_t count)
{
    wk__cuda_last_use last = uses[0];
    for (int64_t k = 1; k < count; k++) {
        last.compute_seq = wk__max_i64(last.compute_seq, uses[k].compute_seq);
        for (int i = 0; i < WK__CUDA_COPY_STREAMS; i++)
            last.copy_seq[i] = wk__max_i64(last.copy_seq[i], uses[k].copy_seq[i]);
    }
    return last;
}

static wk__cuda_last_use last_use(wk__cuda_device *device, const void *block)
{
    int64_t count;
    const wk__cuda_last_use *uses = uses_of(device, block, &count);
    return last_of(uses, count);
}

static CUresult event_of(CUevent *event)
{
    return *event != NULL ? CUDA_SUCCESS : wk__cuda.EventCreate(event, CU_EVENT_DISABLE_TIMING);
}

/* ---- compute stream ---------------------------------------------------------------------------------------------- */

/* Makes the compute stream wait for that copy of the copy stream and those before it. */
static CUresult wait_for_copy(wk__cuda_device *device, int lane, int64_t copy)
{
    wk__cuda_copy_stream *copies = &device->order.copies[lane];
    if (copy <= copies->waited_seq) return CUDA_SUCCESS;
    const CUresult error = wk__cuda.StreamWaitEvent(device->stream, copies->end[copy % WK__CUDA_ENDS], 0);
    if (error != CUDA_SUCCESS) return error;
    copies->waited_seq = copy;
    copies->waited_since = device->order.number;
    return CUDA_SUCCESS;
}

CUresult wk__cuda_hazard_use(wk__cuda_device *device, const void *block)
{
    int64_t count;
    wk__cuda_last_use *uses = uses_of(device, block, &count);
    const wk__cuda_last_use last = last_of(uses, count);
    const int64_t number = ++device->order.number;
    CUresult error = CUDA_SUCCESS;
    for (int64_t k = 0; k < count; k++) uses[k].compute_seq = number;
    for (int k = 0; k < WK__CUDA_COPY_STREAMS && error == CUDA_SUCCESS; k++)
        error = wait_for_copy(device, k, last.copy_seq[k]);
    return error;
}

CUresult wk__cuda_hazard_join(wk__cuda_device *device)
{
    CUresult error = CUDA_SUCCESS;
    device->order.number++; /* later uses have waited */
    for (int k = 0; k < WK__CUDA_COPY_STREAMS && error == CUDA_SUCCESS; k++)
        error = wait_for_copy(device, k, device->order.copies[k].count);
    return error;
}

/* ---- copy streams ------------------------------------------------------------------------------------------------ */

/* Makes the stream wait for all compute uses up to that index. */
static CUresult wait_for_uses(wk__cuda_device *device, CUstream stream, int64_t number)
{
    wk__cuda_hazards *order = &device->order;
    CUresult error = CUDA_SUCCESS;
    if (number > order->computed_number) {
        error = event_of(&order->computed);
        if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(order->computed, device->stream);
        if (error == CUDA_SUCCESS) order->computed_number = order->number;
    }
    return error == CUDA_SUCCESS ? wk__cuda.StreamWaitEvent(stream, order->computed, 0) : error;
}

/* Makes the stream wait for copies of other copy streams; `own` is its own index, or that of none. If the compute
 * stream already waits for such a copy, it suffices to wait for the compute stream: *number is increased accordingly,
 * so that events which later copies may have reused are not waited for. */
static CUresult wait_for_lanes(wk__cuda_device *device, CUstream stream, int own, const wk__cuda_last_use *last,
                               int64_t *number)
{
    CUresult error = CUDA_SUCCESS;
    for (int k = 0; k < WK__CUDA_COPY_STREAMS && error == CUDA_SUCCESS; k++) {
        const wk__cuda_copy_stream *copies = &device->order.copies[k];
        const int64_t copy = last->copy_seq[k];
        if (k == own || copy == 0) continue;
        if (copy <= copies->waited_seq)
            *number = wk__max_i64(*number, copies->waited_since);
        else
            error = wk__cuda.StreamWaitEvent(stream, copies->end[copy % WK__CUDA_ENDS], 0);
    }
    return error;
}

CUresult wk__cuda_hazard_begin_receive(wk__cuda_device *device, CUstream stream, const void *block)
{
    const wk__cuda_last_use last = last_use(device, block);
    int64_t number = last.compute_seq;
    const CUresult error = wait_for_lanes(device, stream, WK__CUDA_COPY_STREAMS, &last, &number);
    return error == CUDA_SUCCESS && number > 0 ? wait_for_uses(device, stream, number) : error;
}

/* Creates the stream, and the event of its next copy. */
static CUresult provide(wk__cuda_copy_stream *copies)
{
    const CUresult error = event_of(&copies->end[(copies->count + 1) % WK__CUDA_ENDS]);
    return error == CUDA_SUCCESS && copies->stream == NULL
               ? wk__cuda.StreamCreate(&copies->stream, CU_STREAM_NON_BLOCKING)
               : error;
}

CUresult wk__cuda_hazard_begin_copy(wk__cuda_device *device, int lane, const void *block)
{
    wk__cuda_copy_stream *copies = &device->order.copies[lane];
    const wk__cuda_last_use last = last_use(device, block);
    int64_t number = last.compute_seq;
    CUresult error = provide(copies);
    if (error == CUDA_SUCCESS) error = wait_for_lanes(device, copies->stream, lane, &last, &number);
    if (number <= copies->compute_waited_seq || error != CUDA_SUCCESS) return error;
    error = wait_for_uses(device, copies->stream, number);
    if (error == CUDA_SUCCESS) copies->compute_waited_seq = device->order.computed_number;
    return error;
}

/* If no event can be recorded, waits for the copy here, because nothing else could. */
CUresult wk__cuda_hazard_end_copy(wk__cuda_device *device, int lane, const void *block)
{
    wk__cuda_copy_stream *copies = &device->order.copies[lane];
    const CUresult error = wk__cuda.EventRecord(copies->end[(copies->count + 1) % WK__CUDA_ENDS], copies->stream);
    if (error != CUDA_SUCCESS) {
        wk__cuda.StreamSynchronize(copies->stream);
        return error;
    }
    int64_t count;
    wk__cuda_last_use *uses = uses_of(device, block, &count);
    copies->count++;
    for (int64_t k = 0; k < count; k++) uses[k].copy_seq[lane] = copies->count;
    return CUDA_SUCCESS;
}

CUevent wk__cuda_hazard_last_copy(const wk__cuda_device *device, int lane)
{
    const wk__cuda_copy_stream *copies = &device->order.copies[lane];
    return copies->end[copies->count % WK__CUDA_ENDS];
}

CUresult wk__cuda_hazard_end_receive(wk__cuda_device *device, CUevent end, const void *block)
{
    wk__cuda_copy_stream *arrivals = &device->order.copies[WK__CUDA_STREAM_P2P_RECV];
    CUresult error = provide(arrivals);
    if (error == CUDA_SUCCESS) error = wk__cuda.StreamWaitEvent(arrivals->stream, end, 0);
    return error == CUDA_SUCCESS ? wk__cuda_hazard_end_copy(device, WK__CUDA_STREAM_P2P_RECV, block) : error;
}

void wk__cuda_hazard_destroy(wk__cuda_device *device)
{
    wk__cuda_hazards *order = &device->order;
    if (order->computed != NULL) wk__cuda.EventDestroy_v2(order->computed);
    for (int k = 0; k < WK__CUDA_COPY_STREAMS; k++) {
        const wk__cuda_copy_stream *copies = &order->copies[k];
        for (int i = 0; i < WK__CUDA_ENDS; i++)
            if (copies->end[i] != NULL) wk__cuda.EventDestroy_v2(copies->end[i]);
        if (copies->stream != NULL) wk__cuda.StreamDestroy_v2(copies->stream);
    }
}
