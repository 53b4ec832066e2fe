/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of the sweep: random values in every dtype and memory layout; see sweep.h. */
#include "support/sweep/sweep.h"
#include "base/alloc.h"
#include "ir/scalar.h"
#include "support/group/group_reference.h"
#include <math.h>

const char *const sweep_layout_name[SWEEP_LAYOUTS] = {"dense", "transposed", "outer", "inner", "offset", "mixed"};

enum { MARGIN = 37, GAP = 2, FILLER = 77 }; /* elements before, after and between rows, and their value */

double sweep_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

double sweep_rounded(double x, wk_dtype dtype)
{
    int64_t element[2] = {0};
    group_reference_put(dtype, element, 0, x);
    return wk__scalar_to_double(element, dtype);
}

/* Draws a value between low and high, an integer if there is one, within the range of the dtype. */
static double drawn(const wk__op *op, const sweep_operand *what, wk_dtype dtype, uint64_t *seed)
{
    const op_reference *known = op_reference_of(op);
    double u = sweep_random(seed), low = known->low, high = known->high;
    if (what->below) return floor(u * (double)what->below);
    if (dtype == WK_BOOL) return u < 0.5 ? 0 : 1;
    if (low == high) high = (low = -2) + 4;
    if (wk__is_float(dtype)) return sweep_rounded(low + (high - low) * u, dtype);
    low = ceil(low);
    if (dtype == WK_U8 && low < 0) low = 0;
    high = fmax(low, floor(fmin(high, 100)));
    return low + floor(u * (high - low + 1));
}

static int64_t numel_of(const sweep_operand *what)
{
    int64_t n = 1;
    for (int d = 0; d < what->ndim; d++) n *= what->shape[d];
    return n;
}

/* Sets strides and offset of the operand in a storage of *room elements. */
static int64_t lay(const sweep_operand *what, sweep_layout layout, int64_t *stride, int64_t *room)
{
    int64_t step = 1;
    int still = -1; /* the dimension with stride 0 */
    for (int k = 0; k < what->ndim; k++) {
        int d = layout == SWEEP_OUTER || layout == SWEEP_TRANSPOSED ? k : what->ndim - 1 - k;
        if ((layout == SWEEP_OUTER || layout == SWEEP_INNER) && still < 0 && what->shape[d] > 1) still = d;
    }
    for (int k = 0; k < what->ndim; k++) {
        int d = layout == SWEEP_TRANSPOSED ? k : what->ndim - 1 - k;
        stride[d] = d == still ? 0 : step;
        if (d != still) step *= what->shape[d] > 0 ? what->shape[d] : 1;
        if (layout == SWEEP_OFFSET && k == 0) step += GAP;
    }
    *room = layout == SWEEP_OFFSET ? step + 2 * MARGIN : step;
    return layout == SWEEP_OFFSET ? MARGIN : 0;
}

/* Returns the offset of element k of the operand. */
static int64_t place_of(const sweep_operand *what, const int64_t *stride, int64_t k)
{
    int64_t place = 0;
    for (int d = what->ndim; d-- > 0; k /= what->shape[d]) place += k % what->shape[d] * stride[d];
    return place;
}

static void make_one(const wk__op *op, const sweep_operand *what, wk_dtype dtype, sweep_layout layout, wk_device device,
                     uint64_t *seed, sweep_input *input)
{
    int64_t stride[WK__MAX_DIMS] = {0}, room, offset = lay(what, layout, stride, &room), n = numel_of(what);
    size_t size = wk_dtype_size(dtype);
    input->size = (size_t)room * size;
    input->bytes = wk__alloc_zero((size_t)room, size);
    input->array =
        (reference_array){.ndim = what->ndim, .dtype = dtype, .data = wk__alloc_zero((size_t)n + 1, sizeof(double))};
    memcpy(input->array.shape, what->shape, sizeof what->shape);
    for (int64_t k = 0; k < room; k++) group_reference_put(dtype, input->bytes, k, FILLER);
    for (int64_t k = 0; k < n; k++)
        group_reference_put(dtype, input->bytes, offset + place_of(what, stride, k), drawn(op, what, dtype, seed));
    for (int64_t k = 0; k < n; k++)
        input->array.data[k] =
            wk__scalar_to_double(input->bytes + (size_t)(offset + place_of(what, stride, k)) * size, dtype);
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = device};
    if (layout == SWEEP_DENSE) {
        input->tensor =
            wk_from_on_at(WK_HERE, dtype, input->bytes, (size_t)n * size, what->shape, what->ndim, &options);
        input->storage = input->tensor;
        input->size = (size_t)n * size;
    } else {
        input->storage = wk_from_on_at(WK_HERE, dtype, input->bytes, input->size, &room, 1, &options);
        input->tensor = wk_as_strided_at(WK_HERE, input->storage, what->shape, stride, what->ndim, offset);
    }
    expect_ok();
}

void sweep_make_inputs(const wk__op *op, const sweep_sample *sample, wk_dtype dtype, sweep_layout layout,
                       wk_device device, uint64_t seed, sweep_input input[])
{
    for (int k = 0; k < sample->operands; k++) {
        const sweep_operand *what = &sample->operand[k];
        sweep_layout its = layout == SWEEP_MIXED ? (sweep_layout)((k + 1) % SWEEP_MIXED) : layout;
        if (k == 0 && sweep_writes(op) && (its == SWEEP_OUTER || its == SWEEP_INNER))
            its = SWEEP_OFFSET; /* elements would overlap */
        make_one(op, what, what->fixed ? what->fixed : dtype, its, device, &seed, &input[k]);
    }
}

void sweep_free_inputs(const sweep_sample *sample, sweep_input input[])
{
    for (int k = 0; k < sample->operands; k++) {
        wk__free(input[k].bytes);
        wk__free(input[k].array.data);
    }
}

/* Returns true if all elements outside the operand have the filler value. */
static bool only_filler_kept(const sweep_input *input, const char *now)
{
    size_t size = wk_dtype_size(input->array.dtype);
    for (size_t k = 0; k < MARGIN; k++)
        if (memcmp(now + k * size, input->bytes + k * size, size) != 0 ||
            memcmp(now + input->size - (k + 1) * size, input->bytes + input->size - (k + 1) * size, size) != 0)
            return false;
    return true;
}

void sweep_check_untouched(const sweep_sample *sample, const sweep_input input[], int written)
{
    for (int k = 0; k < sample->operands; k++) {
        char *now = malloc(input[k].size + 1);
        assert_int_equal(wk_read(input[k].storage, now, input[k].size), WK_OK);
        bool framed =
            input[k].storage != input[k].tensor && input[k].size > 2 * MARGIN * wk_dtype_size(input[k].array.dtype);
        bool kept = k == written ? !framed || only_filler_kept(&input[k], now)
                                 : memcmp(now, input[k].bytes, input[k].size) == 0;
        free(now);
        if (!kept) fail_msg("operand %d: memory outside the result was written", k);
    }
}
