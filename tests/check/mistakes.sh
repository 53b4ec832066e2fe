#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compilers must refuse these mistakes: each gives one error, at the program's own line, with a helpful text; gcc, which
# otherwise lists every macro, has nothing else on its lines.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

export LC_ALL=C

# A program with the statement in its fifth line.
program() # STATEMENT
{
    printf '#include <wick.h>\nvoid f(wk_tensor *x, wk_tensor *y, wk_tensors *list, wk_module *m, int n, double d, '
    printf 'const int *ints);\n'
    printf 'void f(wk_tensor *x, wk_tensor *y, wk_tensors *list, wk_module *m, int n, double d, const int *ints)\n{\n'
    printf '    %s;\n    (void)x, (void)y, (void)list, (void)m, (void)n, (void)d, (void)ints;\n}\n' "$1"
}

# One error, in line 5, that contains the text.
one_error() # TEXT COMMAND...
{
    text=$1
    shift
    "$@" >"$WICK_WORK/said" 2>&1 && { echo "no error"; return 1; }
    cat "$WICK_WORK/said"
    [ "$(grep -c ' error: ' "$WICK_WORK/said")" = 1 ] || { echo "that is not one error"; return 1; }
    grep ' error: ' "$WICK_WORK/said" | grep -q "^[^:]*mistake\.c:5:" || { echo "another line"; return 1; }
    grep ' error: ' "$WICK_WORK/said" | grep -q -e "$text" || { echo "other words than $text"; return 1; }
    case $1 in *gcc*) [ "$(grep -c 'in expansion of\|in definition of' "$WICK_WORK/said")" = 0 ] ;; esac
}

while IFS='|' read -r statement text; do
    program "$statement" >"$WICK_WORK/mistake.c"
    for c in $(compilers gcc clang); do
        check "$statement, ${c##*/}" one_error "$text" "$c" -std=c11 -Wall -Wextra -Wpedantic -Iinclude \
            -fsyntax-only "$WICK_WORK/mistake.c"
    done
done <<'END_OF_MISTAKES'
x = wk_zeros(2, 3)|wk_zeros: write sizes in parentheses of their own.*wk_zeros((2, 3))
x = wk_ones(4)|wk_ones((4))
(void)wk_dist_new_group(0, 2)|wk_dist_new_group: write ranks in parentheses: wk_dist_new_group((0, 2))
(void)wk_dist_new_group((0, 2), n)|wk_dist_new_group: write ranks in parentheses
x = wk_rand(n, 3, .dtype = WK_F64)|wk_rand: write sizes in parentheses of their own
x = wk_full(2, 3, 0.5)|wk_full((2, 3), 0.5)
x = wk_randint(0, 10, 2, 3)|wk_randint(low, high, (2, 3))
x = wk_reshape(x, 3, 2)|wk_reshape: write a list in parentheses: wk_reshape(x, (3, 2))
x = wk_reshape(x, -1)|wk_reshape(x, (-1))
x = wk_permute(x, 1, 0)|wk_permute(x, (1, 0))
x = wk_expand(x, (2), 3)|wk_expand: write a list in parentheses
x = wk_einsum("ij,jk->ik", x, y)|wk_einsum: write tensors in parentheses: wk_einsum(
x = wk_einsum("ij->ji", x)|wk_einsum: write tensors in parentheses
x = wk_tensordot(x, y, 1, 0)|wk_tensordot: write lists in parentheses
n = wk_meshgrid(x, y)|wk_meshgrid: write tensors in parentheses: wk_meshgrid((x, y), out)
n = wk_meshgrid((x, y))|wk_meshgrid: the array for the results is missing
x = wk_get(x, 1, 2)|wk_get: write indices in parentheses: wk_get(x, (0, WK_ALL))
x = wk_get(x, (1, 2.5))|an index is an integer, WK_ALL, WK_SLICE(first, end), WK_NEW, WK_REST or a tensor
x = wk_get(x, (1, m))|an index is an integer, WK_ALL
x = wk_get(x, (WK_SLICE(1)))|WK_SLICE: write both ends: WK_SLICE(first, WK_END)
x = wk_get(x, (1, undeclared))|undeclared
x = wk_forward(m, x, y)|wk_forward: expected one input; for several call wk_forward_n(m, (x, y), out, outputs), wk_rnn_
x = wk_forward(m, x, y, x, y)|wk_forward: expected one input
x = wk_set(x, (1, 2))|wk_set: write indices in parentheses, then the value
x = wk_set(x, 1, 2)|wk_set: write indices in parentheses, then the value
x = wk_index_put(x, y, x)|wk_index_put: write index tensors in parentheses: wk_index_put(x, (i, j), values)
x = wk_scatter_reduce(x, 0, y, x)|wk_scatter_reduce
x = wk_cat(x, y, 0)|wk_cat: write tensors in parentheses: wk_cat((x, y), 0)
x = wk_stack(list, 0)|wk_stack((x, y), 0), not wk_stack(list, 0)
x = wk_sum(x, 0, 1)|wk_sum: write dimensions in parentheses, wk_sum(x, (0, 1))
x = wk_mean(x, 0, .dtype = WK_F64)|wk_mean: write dimensions in parentheses
x = wk_sum(x, (0), true)|wk_sum: options must be named
x = wk_argmax(x, .keepdim = true)|wk_argmax: the dimension comes before the options
x = wk_layer_norm(x, 3, NULL, NULL)|wk_layer_norm(x, (3), weight, bias)
x = wk_of(float, 3, 1, 2, 3)|wk_of(float, (2, 2), 1, 2, 3, 4)
x = wk_from(&d, 1)|wk_from(data, (1))
x = wk_roll(x, 1, 0)|wk_roll(x, (1), (0))
m = wk_nn_layer_norm(3, .eps = 1e-3)|wk_nn_layer_norm: write sizes in parentheses
list = wk_list(x, y)|wk_list((x, y))
wk_optim *o = wk_optim_adam(list, 1e-3); (void)o|wk_optim_adam: options must be named
wk_schedule *s = wk_schedule_step_lr(NULL, 8, 0.1); (void)s|wk_schedule_step_lr: options must be named
wk_schedule *s = wk_schedule_step_lr(NULL); (void)s|wk_schedule_step_lr(optim, step_size), then options
wk_schedule *s = wk_schedule_multi_step_lr(NULL, 30); (void)s|wk_schedule_multi_step_lr(optim, (30, 80))
wk_progress *p = wk_progress_new("train"); (void)p|wk_progress_new(name, total), then options
wk_plot *p = wk_plot_new("loss"); (void)p|wk_plot_new: options must be named
wk_plot_history(NULL, "loss")|wk_plot_history(plot, label, history), then options
wk_text *t = wk_text_chars("a", "b"); (void)t|wk_text_chars: options must be named
wk_text *t = wk_text_bpe_train("a"); (void)t|wk_text_bpe_train(path, vocabulary), then options
x = wk_text_pad(x, x)|wk_text_pad: write sequences in two pairs of parentheses: wk_text_pad((a, b))
x = wk_zeros((2, 3), WK_F64)|wk_zeros: options must be named
m = wk_nn_linear(2, 3, false)|wk_nn_linear: options must be named
x = wk_add(2, 3)|wk_add: expected a wk_tensor \* and a wk_tensor \* or a number
x = wk_add(x, NULL)|wk_add: expected a wk_tensor \* and a wk_tensor \* or a number
x = wk_mul(ints, x)|wk_mul: expected a wk_tensor \* and a wk_tensor \* or a number
x = wk_sub(m, x)|wk_sub: expected a wk_tensor \* and a wk_tensor \* or a number
x = wk_add_(x, list)|wk_add_: expected a tensor or a number as second operand
x = wk_matmul(x, 3)|integer
x = wk_add_(3, x)|integer
x = wk_softmax(x, y)|pointer
x = wk_exp(n)|integer
x = wk_linear(x, y, 1)|integer
x = wk_exp(m)|incompatible pointer
x = wk_where(x, list, y)|pointer
x = wk_cat((x, list), 0)|incompatible pointer
x = wk_cat((x, 3), 0)|integer
m = wk_nn_sequential(m, x)|incompatible pointer
wk_optim *o = wk_optim_sgd(x, .lr = 1); (void)o|incompatible pointer
x = wk_zeros(WK_ARRAY(ints, n))|incompatible pointer
x = wk_zeros((2.5, 3))|double. and .\(int\|wk_sizes_are_whole_numbers\)
x = wk_reshape(x, (2, d))|double. and .\(int\|wk_sizes_are_whole_numbers\)
x = wk_zeros((x, 2))|\*.* and .\(int\|wk_sizes_are_whole_numbers\)
x = wk_sum(x, .keepdim = true, .keepdim = false)|overwritten\|overrides
wk_optim *o = wk_optim_adamw(list, .lr = 0, .eps = 1, .lr = 1); (void)o|overwritten\|overrides
wk_optim *o = wk_optim_adam(list, .momentum = 0.9); (void)o|momentum
wk_optim *o = wk_optim_sgd(list, .eps = 1e-8); (void)o|eps
wk_optim *o = wk_optim_adagrad(list, .beta1 = 0); (void)o|beta1
wk_optim *o = wk_optim_lbfgs(list, .weight_decay = 1); (void)o|weight_decay
x = wk_of(float, (1), 1, .dtype = WK_F64, .dtype = WK_F32)|overwritten\|overrides
x = wk_zeros((2), .dtyp = WK_F64)|dtyp
x = wk_cat((x, y))|wk_cat: the dimension is missing: wk_cat((x, y), 0)
x = wk_cat((x, y), 0, 1)|wk_cat: one dimension: wk_cat((x, y), 0), not wk_cat((x, y), 0, 1)
x = wk_squeeze(x, 0, 1)|wk_squeeze: write dimensions in parentheses: wk_squeeze(x, (0, 1))
x = wk_stack((x, y))|wk_stack: the dimension is missing: wk_stack((x, y), 0)
x = wk_from((float[]){1, 2, 3, 4}, (2, 2))|and an array literal too: wk_from(((float\[\]){1, 2}), (2))
void *p = x; x = wk_add(p, 1)|(wk_tensor \*)x casts a void \*
x = wk_add(wk_mul(wk_exp(undeclared), 2), y)|undeclared
x = wk_mul(2, wk_sum(wk_sub(x, undeclared), (0), .keepdim = true))|undeclared
x = wk_add(wk_reshape(wk_cat((x, undeclared), 0), (-1)), wk_full((2), 0.5))|undeclared
x = wk_add(wk_zeros((2, undeclared)), 1)|undeclared
x = wk_where(wk_gt(undeclared, 0), x, wk_clamp(y, 0, 1))|undeclared
x = wk_keep(wk_matmul(wk_softmax(wk_mul(x, undeclared), 1), y))|undeclared
x = wk_zeros(ints)|for an array: wk_zeros(WK_ARRAY(shape, ndim))
x = wk_zeros({2, 3})|write a list in parentheses, (2, 3), not in braces
x = wk_reshape(x, {3, 2})|write a list in parentheses, (2, 3), not in braces
x = wk_reshape(x, {6})|write a list in parentheses, (2, 3), not in braces
x = wk_cat({x, y}, 0)|wk_cat: write tensors in parentheses: wk_cat((x, y), 0)
x = wk_eye((2, 5))|wk_eye: expected one size, as the matrix is square: wk_eye(3)
x = wk_eye((2, 5), .dtype = WK_F64)|wk_eye: expected one size
x = wk_clamp(x, .min = 0)|wk_clamp: write low and high after x.*WK_NONE for no limit: wk_clamp(x, 0, WK_NONE)
x = wk_clamp_(x, 0)|wk_clamp_: write low and high after x
x = wk_clamp(x, 0, 1, 2)|wk_clamp: write low and high after x
m = wk_nn_linear(2)|wk_nn_linear: an argument is missing: wk_nn_linear(in, out)
m = wk_nn_linear((2, 3))|wk_nn_linear: an argument is missing: wk_nn_linear(in, out)
m = wk_nn_embedding(2)|wk_nn_embedding: an argument is missing: wk_nn_embedding(
m = wk_nn_lstm(2)|wk_nn_lstm: an argument is missing: wk_nn_lstm(input_size, hidden_size)
x = wk_linspace(0, 1)|wk_linspace: an argument is missing: wk_linspace(start, end, count)
x = wk_cross_entropy(x)|wk_cross_entropy: an argument is missing: wk_cross_entropy(
x = wk_full((2))|wk_full: an argument is missing: wk_full((2, 3), 0.5)
x = wk_from(list, (2))|wk_from: expected a pointer to float, double.*&v\[0\]\[0\]
x = wk_from((const void *)ints, (2), .dtype = WK_F64)|wk_from: expected a pointer to float
float v[2][3][4] = {{{0}}}; x = wk_from(v, (2, 3, 4))|wk_from: expected a pointer to float.*&v\[0\]\[0\]\[0\]
x = wk_of(char, (1), 1)|wk_of: expected a pointer to float
x = wk_full((2), undeclared, .dtype = WK_F64)|undeclared
x = wk_full_like(x)|wk_full_like: an argument is missing: wk_full_like(x, value)
x = wk_full_like(x, 1, WK_F64)|wk_full_like: options must be named
x = wk_full_like(x, undeclared, .dtype = WK_F64)|undeclared
m = wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(undeclared, 3, .no_bias = true), wk_nn_relu())|undeclared
x = wk_zeros(2, 3, .dtype = WK_F64)|wk_zeros: .* own, options after them: wk_zeros((2, 3), .key = value)"
m = wk_nn_layer_norm(n, .eps = 1e-3)|options after them: wk_nn_layer_norm((2, 3), .key = value)"
x = wk_randint(0, 5, 2, 3, .dtype = WK_I32)|parentheses, options after them: wk_randint(.., (2, 3), .key = value)"
x = wk_from(&d, 1, .dtype = WK_F32)|parentheses, options after them: wk_from(data, (2, 3), .key = value)"
x = wk_reshape(x, 2, 3, .dtype = WK_F64)|write a list in parentheses, without options: wk_reshape(x, (2, 3))"
x = wk_zeros({2, 3}, .dtype = WK_F64)|write a list in parentheses, (2, 3), not in braces
x = wk_amax(x, 1, .keepdim = true)|parentheses, options after them: wk_amax(x, (0, 1), .key = value)"
x = wk_sum(x, 0, n, .keepdim = true)|parentheses, options after them: wk_sum(x, (0, 1), .key = value)"
x = wk_sum(x, y, .keepdim = true)|wk_sum: write dimensions in parentheses, options after them
wk_optim *o = wk_optim_sgd(list, 0.1, .lr = 1); (void)o|wk_optim_sgd: options must be named
x = wk_cross_entropy(x, y, .weight = 3, .label_smoothing = 0.1)|integer
x = wk_softmax(x, (0, 1))|wk_softmax: expected one value for each argument, not a list in parentheses
x = wk_unsqueeze(x, (n, 1))|wk_unsqueeze: expected one value for each argument
x = wk_slice(x, 0, (1, 3), 2, 1)|wk_slice: expected one value for each argument
wk_tensor *o[2]; wk_split(x, (1, 3), 0, o)|wk_split: expected one value for each argument
x = wk_argmax(x, (0, 1))|wk_argmax: pass one dimension, without parentheses, or none: wk_argmax(x, 1), wk_argmax(x)
x = wk_argmax(x, (0, 1), .keepdim = true)|wk_argmax: pass one dimension, without parentheses
x = wk_softmax(x)|wk_softmax: the arguments are wk_softmax(x, dim)
x = wk_softmax(x, 1, 2)|too many arguments
x = wk_dropout(x, .5)|wk_dropout: the arguments are wk_dropout(x, p, training)
x = wk_exp(x, 2)|too many arguments
wk_topk(x, 1, 0, true)|wk_topk: the arguments are wk_topk(x, k, dim, largest, values, indices)
x = wk_matmul(x)|wk_matmul: the arguments are wk_matmul(a, b)
x = wk_copy_(x)|wk_copy_: the arguments are wk_copy_(x, y)
x = wk_median(x, 0)|too many arguments
n = wk_chunk(x, 2, 0)|wk_chunk: the arguments are wk_chunk(x, n, dim, out)
wk_sort(x, 0, false)|wk_sort: the arguments are wk_sort(x, dim, descending, values, indices)
m = wk_module_to(m, "cuda")|wk_module_to: the device is a wk_device: wk_cuda(0), wk_device_parse(
m = wk_module_to(m)|wk_module_to: the arguments are wk_module_to(x, device)
x = wk_to(x, "cuda")|wk_to: the device is a wk_device
x = wk_to(x, 0)|wk_to: the device is a wk_device
x = wk_to(undeclared, wk_cpu())|undeclared
x = wk_to(x, undeclared)|undeclared
x = wk_conv2d(x, y, NULL, .padding = (1, 2))|wk_conv_options: an option takes one value, not a list; .* WK_PAIR(1, 2)
m = wk_nn_conv2d(3, 8, 3, .groups=2, .stride=(1, 0))|an option takes one value, not a list
x = wk_interpolate(x, .mode = WK_INTERPOLATE_AREA, .output_size = (n, 8))|an option takes one value, not a list
x = wk_max_pool2d(x, 2, .stride = {1, 2})|an option takes one value, not a list
x = wk_interpolate(x, .size = 8)|wk_interpolate_options: .size is reserved .* write .* as .output_size or as an argument
x = wk_interpolate(x, .scale_factor = 1, .size=(8, 8))|.size is reserved
m = wk_nn_conv2d(3, 8, .padding = 1)|wk_nn_conv2d: an argument is missing: wk_nn_conv2d(in, out, kernel), then options
m = wk_nn_conv2d(3, 8, .dtype = WK_F64, .device = wk_cpu())|an argument is missing: wk_nn_conv2d(in, out, kernel)
m = wk_nn_max_pool2d(.stride = 2)|an argument is missing: wk_nn_max_pool2d(kernel)
x = wk_max_pool2d(x, .stride = 2)|an argument is missing: wk_max_pool2d(x, kernel)
x = wk_conv2d(x, y, .padding = 1)|an argument is missing: wk_conv2d(x, weight, bias)
x = wk_conv2d(x, y, 1)|integer
m = wk_nn_conv2d(3, 8, d)|conversion
m = wk_nn_conv2d(3, 8, 2.5, .padding = 1)|conversion
m = wk_nn_conv2d(3, 8, undeclared)|undeclared
x = wk_rms_norm(x, (3))|wk_rms_norm: an argument is missing: wk_rms_norm(x, (3), weight)
x = wk_slice(x, 0, 1)|wk_slice: an argument is missing: wk_slice(x, dim, start, end)
END_OF_MISTAKES

# Statements that look like a list but are valid: numbers in parentheses, casts, blocks.
for statement in "x = wk_softmax(x, (n + 1) * 2)" "x = wk_softmax((wk_tensor *)x, (int)(n))" \
    "x = wk_cumsum((wk_relu((y))), ({ int a = n, b = 1; a + b; }))" "x = wk_argmax(x, (n))" \
    "x = wk_argmax(x, ({ int a = n, b = 1; a + b; }), .keepdim = true)" \
    "x = wk_conv2d(x, y, NULL, .stride = WK_PAIR(1, 2), .groups = (n), .padding = (int)wk_pair(n, 2))" \
    "x = wk_zeros((2), .requires_grad = ({ int a = n, b = 1; a + b; }), .device = {.kind = WK_CPU, .index = 0})" \
    "x = wk_cross_entropy(x, y, .weight = (wk_tensor *)wk_clamp(x, 0, 1), .label_smoothing = (d + 1) * (d))" \
    "x = wk_cross_entropy(x, y, .weight = (wk_clamp(x, 0, 1)), .reduction = (wk_reduction)(n))" \
    "m = wk_nn_conv2d(3, 8, n + 1, .padding = n)"; do
    program "$statement" >"$WICK_WORK/mistake.c"
    for c in $(compilers gcc clang); do
        check "$statement, ${c##*/}" "$c" -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only \
            "$WICK_WORK/mistake.c"
    done
done

# Valid, with a warning.
one_warning() # TEXT COMMAND...
{
    text=$1
    shift
    "$@" 2>"$WICK_WORK/said" && grep ' warning: ' "$WICK_WORK/said" | grep -q "^[^:]*mistake\.c:5:.*$text"
}

# The header's pragmas do not affect the program's own const: a lost const is a warning, as without the header.
program "int *p = ints; (void)p" >"$WICK_WORK/mistake.c"
for c in $(compilers gcc clang); do
    check "a lost const, ${c##*/}" one_warning discard "$c" -std=c11 -Iinclude -fsyntax-only "$WICK_WORK/mistake.c"
done

# A discarded result of a call without other effects. gcc names the function and the macro, and the line if macros are
# not tracked; a cast to void marks it as intended.
discarded() # COMPILER
{
    "$@" -std=c11 -Wall -Wextra -Wpedantic -Iinclude -fsyntax-only "$WICK_WORK/mistake.c" 2>"$WICK_WORK/said" &&
        [ "$(grep -c 'warning: ignoring return value' "$WICK_WORK/said")" = 1 ] &&
        [ "$(grep -c 'warning:' "$WICK_WORK/said")" = 1 ]
}
quiet()
{
    "$@" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$WICK_WORK/mistake.c"
}
while read -r statement; do
    for c in $(compilers gcc clang); do
        program "$statement" >"$WICK_WORK/mistake.c"
        check "$statement, ${c##*/}" discarded "$c" -O1
        program "(void)$statement" >"$WICK_WORK/mistake.c"
        check "(void)$statement, ${c##*/}" quiet "$c" -O1
    done
done <<'END_OF_DISCARDED'
wk_sub(x, y)
wk_mul(2, x)
wk_clamp(x, 0, 1)
wk_relu(x)
wk_softmax(x, 1)
wk_sum(x, (0), .keepdim = true)
wk_argmax(x, 1)
wk_reshape(x, (2, 3))
wk_flatten(x)
wk_squeeze(x)
wk_cat((x, y), 0)
wk_scatter(x, 0, y, 1)
wk_take_along_dim(x, y)
wk_cross_entropy(x, y)
wk_dropout(x, 0.5, true)
wk_zeros((2, 3))
wk_full((2), 1)
wk_arange(3)
wk_of(float, (1), 1)
wk_from(&d, (1))
wk_to(x, wk_cpu())
wk_contiguous(x)
wk_detach(x)
wk_grad_of(x)
wk_apply(NULL, NULL, (x))
wk_forward(m, x)
wk_nn_linear(2, 3)
wk_nn_sequential(m, m)
wk_parameters(m)
wk_list((x, y))
wk_optim_sgd(list, .lr = 1)
wk_data_tensors(x, y)
wk_history_new()
wk_schedule_step_lr(NULL, 8)
wk_schedule_multi_step_lr(NULL, (8))
wk_schedule_chained(NULL, NULL)
wk_progress_new("train", 8)
wk_mirrored(m, NULL, 1)
wk_ddp(m)
wk_load_tensors("file")
wk_event_record(wk_cpu())
END_OF_DISCARDED

program "wk_sub(x, y)" >"$WICK_WORK/mistake.c"
line() { discarded "$@" && grep -q 'mistake\.c:5:.*warning' "$WICK_WORK/said"; }
check "the line of a discarded result, gcc" line gcc -O1 -ftrack-macro-expansion=0
for c in $(compilers clang); do check "the line of a discarded result, clang" line "$c" -O1; done
for c in $(compilers gcc clang); do
    check "a discarded result without optimisation, ${c##*/}" quiet "$c" -O0
    check "... with warnings enabled, ${c##*/}" discarded "$c" -O0 -DWK_WARN_UNUSED=1
    check "... with warnings disabled, ${c##*/}" quiet "$c" -O1 -DWK_WARN_UNUSED=0
done
# A tensor as a condition is a pointer, which no compiler reports: gcc has no such warning for calls, clang none in
# macros, and a declaration that the pointer is never NULL would remove a program's tests for errors.
for statement in "wk_sub_(x, y)" "wk_copy_(x, y)" "wk_fill_(x, 1)" "wk_backward(x)" "wk_free(x)" "wk_print(x)" \
    "wk_keep(x)" "wk_module_to(m, wk_cpu())" "wk_module_train(m, true)" "wk_clip_grad_norm_(list, 1)" \
    "n = wk_item(wk_all(wk_eq(x, y))) ? 1 : 2" "n = wk_split(x, 2, 0, (wk_tensor *[2]){x, y})"; do
    program "$statement" >"$WICK_WORK/mistake.c"
    for c in $(compilers gcc clang); do check "$statement, ${c##*/}" quiet "$c" -O1; done
done

# Guards are C only: in C++ the error names the functions to use.
while IFS='|' read -r statement text; do
    program "$statement" >"$WICK_WORK/mistake.cpp"
    for cxx in $(compilers g++ clang++); do
        fails "$statement, ${cxx##*/}" "$text" "$cxx" -std=c++17 -Iinclude -fsyntax-only "$WICK_WORK/mistake.cpp"
    done
done <<'END_OF_GUARDS'
WK_SCOPE|WK_SCOPE is C only; in C++ use wk_scope_open(WK_HERE) and wk_guard_close
WK_NO_GRAD|WK_NO_GRAD is C only; in C++ use wk_no_grad_open(WK_HERE) and wk_guard_close
WK_ENABLE_GRAD|WK_ENABLE_GRAD is C only; in C++ use wk_enable_grad_open(WK_HERE) and wk_guard_close
WK_DEVICE(wk_cpu())|WK_DEVICE is C only; in C++ use wk_device_guard_open(WK_HERE, device) and wk_guard_close
WK_NO_SYNC|WK_NO_SYNC is C only; in C++ use wk_no_sync_open(WK_HERE) and wk_guard_close
wk_loader *l = nullptr; WK_EACH(batch, l) (void)batch|WK_EACH is C only; in C++ use wk_batch_begin_at
END_OF_GUARDS

program "x = wk_add(x, 2)" >"$WICK_WORK/mistake.c"
fails "a valid statement is distinguished from a mistake" "no error" one_error "" gcc -std=c11 -Iinclude \
    -fsyntax-only "$WICK_WORK/mistake.c"
