/* SPDX-License-Identifier: Apache-2.0 */
// Compiles calls without lists and options in C++20: they have the same names as in C, and record their call site.
#include <wick.h>

wk_code forms_of_calls(wk_tensor *x, wk_module *m, wk_optim *optim);

wk_code forms_of_calls(wk_tensor *x, wk_module *m, wk_optim *optim)
{
    wk_site here = WK_HERE;
    wk_tensor *values[2];
    wk_memory_stats stats{};
    stats.size = sizeof stats;
    int64_t many = wk_ndim(x) + wk_size(x, 0) + wk_stride(x, -1) + wk_numel(x);
    bool plain = wk_is_contiguous(x) && wk_dtype_of(x) == WK_F32 && wk_device_eq(wk_device_of(x), wk_cpu());
    wk_tensor *y = wk_select(wk_softmax(wk_exp(x), 1), 0, 0);
    wk_copy_(wk_requires_grad_(wk_detach(x), false), wk_to(wk_clone(y), wk_gpu(0)));
    wk_linear(wk_matmul(x, wk_t(x)), x, nullptr);
    wk_forward(wk_module_append(wk_module_train(m, true), wk_nn_relu()), x);
    wk_optim_sgd_options slow{};
    slow.size = sizeof slow, slow.lr = 0.1;
    wk_optim_sgd_at(here, wk_parameters(m), &slow);
    wk_optim_step_closure(optim, [](void *user) { return static_cast<wk_tensor *>(user); }, x);
    wk_optim_set_lr(optim, 0, wk_optim_lr(optim, 0) / 2);
    wk_tensors *list = wk_tensors_add(wk_tensors_new(), "x", x);
    if (wk_sort(x, 0, true, &values[0], &values[1]) != WK_OK || wk_optim_step(optim) != WK_OK) return wk_error_code();
    if (wk_set_log("sync", [](void *, const char *) {}, nullptr) != WK_OK) return wk_error_code();
    if (wk_memory_stats_of(wk_cpu(), &stats) != WK_OK || wk_save_tensors(list, "list.safetensors") != WK_OK)
        return wk_error_code();
    wk_event *start = wk_event_record(wk_cpu()), *end = wk_event_record(wk_device{});
    plain = plain && wk_event_query(end) && wk_event_synchronize(end) == WK_OK && wk_event_elapsed_time(start, end) >= 0;
    wk_free(y);
    wk_tensor *(*exported)(wk_tensor *) = wk_exp; // the exported function, if no parenthesis follows
    return here.line > 0 && plain && many > 0 && wk_item(exported(x)) > 0 ? wk_sync() : wk_error_code();
}
