/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of the base headers: core.h, tensor.h, device.h, event.h, log.h, call.h, dlpack.h. */
#ifndef TESTS_RULES_PROMISED_CODES_BASE_H
#define TESTS_RULES_PROMISED_CODES_BASE_H

#include "promised_codes_ops.h"
#include "promised_codes_training.h"

/* ---- tensors, devices, events, the log --------------------------------------------------------------------------- */

static void *resizes(void *user, void *block, size_t size)
{
    return user ? NULL : realloc(block, size);
}
static void allocator_too_late(void)
{
    wk_set_allocator(resizes, NULL);
}
static void options_of_a_newer_version(void)
{
    const struct {
        wk_tensor_options now;
        char later[8];
    } options = {{.size = sizeof options}, {1}};
    wk_zeros_at(WK_HERE, (const int64_t[]){2}, 1, &options.now);
}
static void options_without_a_size(void)
{
    wk_zeros_at(WK_HERE, (const int64_t[]){2}, 1, &(wk_tensor_options){0});
}
static float four[4];
static void from_of_other_bytes(void)
{
    wk_from_at(WK_HERE, WK_F32, four, sizeof four, (const int64_t[]){5}, 1);
}
static void of_of_other_bytes(void)
{
    wk_of_at(WK_HERE, WK_F32, four, sizeof four, (const int64_t[]){5}, 1);
}
static void strides_past_the_end(void)
{
    const int64_t shape = 2, stride = 4;
    wk_from_strided_sized_at(WK_HERE, WK_F32, four, sizeof four, &shape, &stride, 1, NULL);
}
static void borrow_of_too_few(void)
{
    wk_borrow_sized_at(WK_HERE, WK_F32, four, sizeof four, (const int64_t[]){5}, 1, NULL, NULL);
}
static void read_as_another_dtype(void)
{
    wk_read(wk_arange(2), four, sizeof(int64_t[2]));
}
static void read_of_other_bytes(void)
{
    wk_read(wk_ones((2)), four, sizeof four);
}
static void read_as_no_dtype(void)
{
    wk_read_as_at(WK_HERE, wk_ones((4)), four, sizeof four, (wk_dtype)99);
}
static void negative_limit(void)
{
    wk_memory_set_limit(wk_cpu(), -1);
}
static void log_of_no_subject(void)
{
    wk_set_log("no such subject", NULL, NULL);
}
static void no_sync_mode(void)
{
    wk_set_sync_debug_mode((wk_sync_mode)9);
}
static void transfers_without_a_size(void)
{
    wk_transfer_stats(&(wk_transfer_counters){0});
}
static void setting_past_the_end(void)
{
    wk_setting_info(wk_setting_count(), &(wk_setting){.size = sizeof(wk_setting)});
}
static void op_past_the_end(void)
{
    wk_op_info(wk_op_count(), &(wk_op){.size = sizeof(wk_op)});
}
static void parameter_past_the_end(void)
{
    wk_op_parameter(0, 99, &(wk_parameter){.size = sizeof(wk_parameter)});
}
static void replay_of_a_text(void)
{
    wk_replay(file_with("int main(void) { return 0; }"), NULL, NULL);
}
static void replay_of_no_file(void)
{
    wk_replay(no_file(), NULL, NULL);
}
static void event_on_no_device(void)
{
    wk_event_record(no_device());
}

static void from_null(void)
{
    wk_from_at(WK_HERE, WK_F32, NULL, sizeof four, (const int64_t[]){4}, 1);
}
static void negative_stride(void)
{
    const int64_t shape = 2, stride = -1;
    wk_from_strided_at(WK_HERE, WK_F32, four, &shape, &stride, 1, NULL);
}
static void borrow_of_null(void)
{
    wk_borrow_at(WK_HERE, WK_F32, NULL, (const int64_t[]){4}, 1, NULL, NULL);
}
static void item_of_two(void)
{
    wk_item(wk_ones((2)));
}
static void item_of_null(void)
{
    wk_item(NULL);
}
static void data_of_the_null_device(void)
{
    wk_data(on_the_null_device());
}
static void negative_device_index(void)
{
    wk_cuda(-1);
}
static void device_of_no_name(void)
{
    wk_device_parse_at(WK_HERE, "toaster");
}
static void properties_of_no_device(void)
{
    wk_device_get_properties(no_device(), &(wk_device_properties){.size = sizeof(wk_device_properties)});
}
static void largest_into_null(void)
{
    wk_memory_largest(wk_cpu(), NULL, NULL, 1);
}

static const promised_code promised_by_base[] = {
    {"core.h", WK_ERR_UNSUPPORTED, .provoke = options_of_a_newer_version},
    {"core.h", WK_ERR_ARGUMENT, .provoke = options_without_a_size},
    {"wk_report_error", WK_ERR_TIMEOUT, .test = "distributed/failing.c"},
    {"wk_set_allocator", WK_ERR_STATE, .provoke = allocator_too_late},
    {"tensor.h", WK_ERR_STATE, .test = "engine/events_refused.c"},
    {"wk_from", WK_ERR_SHAPE, .provoke = from_of_other_bytes},
    {"wk_of", WK_ERR_SHAPE, .provoke = of_of_other_bytes},
    {"wk_from_strided_sized", WK_ERR_SHAPE, .provoke = strides_past_the_end},
    {"wk_borrow_sized", WK_ERR_SHAPE, .provoke = borrow_of_too_few},
    {"wk_read", WK_ERR_DTYPE, .provoke = read_as_another_dtype},
    {"wk_read", WK_ERR_SHAPE, .provoke = read_of_other_bytes},
    {"tensor.h", WK_ERR_SHAPE, .provoke = from_of_other_bytes},
    {"wk_from", WK_ERR_ARGUMENT, .provoke = from_null},
    {"wk_from_strided", WK_ERR_ARGUMENT, .provoke = negative_stride},
    {"wk_borrow", WK_ERR_ARGUMENT, .provoke = borrow_of_null},
    {"wk_item", WK_ERR_SHAPE, .provoke = item_of_two},
    {"wk_item", WK_ERR_ARGUMENT, .provoke = item_of_null},
    {"wk_data", WK_ERR_DEVICE, .provoke = data_of_the_null_device},
    {"wk_cuda", WK_ERR_DEVICE, .provoke = negative_device_index},
    {"wk_device_parse", WK_ERR_DEVICE, .provoke = device_of_no_name},
    {"wk_device_get_properties", WK_ERR_DEVICE, .provoke = properties_of_no_device},
    {"wk_memory_largest", WK_ERR_ARGUMENT, .provoke = largest_into_null},
    {"wk_set_soft_placement", WK_ERR_DEVICE, .provoke = two_devices},
    {"wk_read_as", WK_ERR_ARGUMENT, .provoke = read_as_no_dtype},
    {"wk_memory_set_limit", WK_ERR_ARGUMENT, .provoke = negative_limit},
    {"wk_set_log", WK_ERR_ARGUMENT, .provoke = log_of_no_subject},
    {"wk_set_sync_debug_mode", WK_ERR_ARGUMENT, .provoke = no_sync_mode},
    {"wk_transfer_stats", WK_ERR_ARGUMENT, .provoke = transfers_without_a_size},
    {"wk_replay", WK_ERR_INTERNAL, .test = "engine/replay.c"},
    {"wk_replay", WK_ERR_FORMAT, .provoke = replay_of_a_text},
    {"wk_replay", WK_ERR_IO, .provoke = replay_of_no_file},
    {"log.h", WK_ERR_ARGUMENT, .test = "base/environment.c"},
    {"wk_setting_info", WK_ERR_ARGUMENT, .provoke = setting_past_the_end},
    {"wk_op_info", WK_ERR_ARGUMENT, .provoke = op_past_the_end},
    {"wk_op_parameter", WK_ERR_ARGUMENT, .provoke = parameter_past_the_end},
    {"wk_call", WK_ERR_STATE, .test = "autograd/calls.c"},
    {"wk_to_dlpack", WK_ERR_STATE, .test = "io/dlpack_out.c"},
    {"wk_to_dlpack", WK_ERR_DEVICE, .test = "io/dlpack_out.c"},
    {"wk_from_dlpack", WK_ERR_UNSUPPORTED, .test = "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_DEVICE, .test = "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_DTYPE, .test = "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_SHAPE, .test = "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_ARGUMENT, .test = "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_MEMORY, .test = "failing/dlpack.c"},
    {"wk_event_record", WK_ERR_DEVICE, .provoke = event_on_no_device},
    {"wk_event_record", WK_ERR_MEMORY, .test = "engine/events_refused.c"},
    {"wk_event_record", WK_ERR_DEVICE_LOST, .test = "engine/events_refused.c"},
    {"wk_event_record", WK_ERR_UNSUPPORTED, .test = "engine/events.c"},
    {"wk_event_record", WK_ERR_STATE, .test = "engine/events_refused.c"},
    {"wk_event_synchronize", WK_ERR_DEVICE_LOST, .test = "backend/cuda/lost.c"},
    {"wk_event_elapsed_time", WK_ERR_STATE, .test = "engine/events.c"},
    {"wk_event_elapsed_time", WK_ERR_DEVICE, .test = "engine/events.c"},
    {"wk_event_elapsed_time", WK_ERR_DEVICE_LOST, .test = "backend/cuda/lost.c"},
};

#endif
