/* Random tensors: rand, randn, randint, randperm, the _like forms, uniform_, normal_, and the stream that they draw from.
 * What the numbers are, bit for bit, is in ir/random.h. */
#include "random.h"
#include "../ir/random.h"
#include "create.h"
#include "reference.h"
#include "rows.h"
#include <math.h>

/* ---- the stream -------------------------------------------------------------------------------------------------- */

/* Threads draw from streams of their own; seeds below 2^32 never meet another thread's. */
void wk_seed_stream(uint64_t seed, uint64_t stream)
{
    wk_context *context = wk__context();
    context->key = seed ^ stream << 32;
    context->counter = 0;
}

void wk_seed(uint64_t seed)
{
    wk_seed_stream(seed, (uint64_t)wk__context()->stream);
}

wk__draw wk__draw_take(int64_t count)
{
    wk_context *context = wk__context();
    wk__draw draw = {context->key, context->counter};
    context->counter += (uint64_t)count;
    return draw;
}

/* ---- expressions: in[] = counter and key as RAW immediates, then what the distribution needs, raw too ---------------- */

static int number(wk__emit *e, int raw)
{
    return wk__emit_ins(e, WK__IMM, WK_I64, raw, 0, 0);
}
static int whole(wk__emit *e, int64_t value)
{
    return wk__emit_imm(e, WK_I64, (wk__imm){.i = value});
}
static int i64_op(wk__emit *e, wk__alu code, int a, int b)
{
    return wk__emit_ins(e, code, WK_I64, a, b, 0);
}

int wk__emit_bits(wk__emit *e, int counter, int key, int bits)
{
    int position = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    return wk__emit_ins(e, WK__PHILOX, WK_I64, i64_op(e, WK__ADD, position, number(e, counter)), key, bits);
}

/* The upper bits of a word as a fraction. */
static int fraction(wk__emit *e, const int in[], int bits)
{
    int word = wk__emit_bits(e, in[0], in[1], 32);
    int upper = wk__emit_cast(e, WK_F32, i64_op(e, WK__SHR, word, whole(e, 32 - bits)));
    return wk__emit_ins(e, WK__MUL, WK_F32, upper, wk__emit_imm(e, WK_F32, (wk__imm){.f = ldexp(1, -bits)}), 0);
}

int wk__emit_uniform_f32(wk__emit *e, int counter, int key)
{
    return fraction(e, (const int[]){counter, key}, 24);
}
int wk__emit_uniform_f64(wk__emit *e, int counter, int key)
{
    int bits = i64_op(e, WK__SHR, wk__emit_bits(e, counter, key, 64), whole(e, 11));
    int upper = wk__emit_cast(e, WK_F64, i64_op(e, WK__AND, bits, whole(e, ((int64_t)1 << 53) - 1)));
    return wk__emit_ins(e, WK__MUL, WK_F64, upper, wk__emit_imm(e, WK_F64, (wk__imm){.f = 0x1p-53}), 0);
}

static int uniform_f32(wk__emit *e, const int in[])
{
    return wk__emit_uniform_f32(e, in[0], in[1]);
}
static int uniform_f64(wk__emit *e, const int in[])
{
    return wk__emit_uniform_f64(e, in[0], in[1]);
}
static int uniform_f16(wk__emit *e, const int in[])
{
    return fraction(e, in, 11);
}
static int uniform_bf16(wk__emit *e, const int in[])
{
    return fraction(e, in, 8);
}
static int normal_f32(wk__emit *e, const int in[])
{
    return wk__emit_ins(e, WK__NDTRI, WK_F32, wk__emit_bits(e, in[0], in[1], 32), 0, 0);
}
static int normal_f64(wk__emit *e, const int in[])
{
    return wk__emit_ins(e, WK__NDTRI, WK_F64, wk__emit_bits(e, in[0], in[1], 64), 0, 0);
}
static int all_bits(wk__emit *e, const int in[])
{
    return wk__emit_bits(e, in[0], in[1], 64);
}

static int low_half(wk__emit *e, int x)
{
    return i64_op(e, WK__AND, x, whole(e, 0xFFFFFFFF));
}
static int high_half(wk__emit *e, int x)
{
    return low_half(e, i64_op(e, WK__SHR, x, whole(e, 32)));
}

/* low + wk__below(bits, range), range below 2^31. in[2]: low, in[3]: range */
static int below_small(wk__emit *e, const int in[])
{
    int bits = wk__emit_bits(e, in[0], in[1], 64), range = number(e, in[3]);
    int carried = i64_op(e, WK__SHR, i64_op(e, WK__MUL, low_half(e, bits), range), whole(e, 32));
    int product = i64_op(e, WK__ADD, i64_op(e, WK__MUL, high_half(e, bits), range), carried);
    return i64_op(e, WK__ADD, number(e, in[2]), i64_op(e, WK__SHR, product, whole(e, 32)));
}

/* The same for any range: the upper half of a product of 128 bits, from four of 64. */
static int below_any(wk__emit *e, const int in[])
{
    int bits = wk__emit_bits(e, in[0], in[1], 64), range = number(e, in[3]);
    int ub = high_half(e, bits), lb = low_half(e, bits), ur = high_half(e, range), lr = low_half(e, range);
    int m = i64_op(e, WK__MUL, ub, lr), n = i64_op(e, WK__MUL, lb, ur);
    int c = i64_op(e, WK__ADD, high_half(e, i64_op(e, WK__MUL, lb, lr)),
                   i64_op(e, WK__ADD, low_half(e, m), low_half(e, n)));
    int upper = i64_op(e, WK__ADD, i64_op(e, WK__MUL, ub, ur), i64_op(e, WK__ADD, high_half(e, m), high_half(e, n)));
    return i64_op(e, WK__ADD, number(e, in[2]), i64_op(e, WK__ADD, upper, high_half(e, c)));
}

/* What is recorded, by dtype; the row of the op is another descriptor. */
#define DRAWN(op, function)                                                                                            \
    {                                                                                                                  \
        .name = op, .expression = function, .indexed = true                                                            \
    }
static const wk__op uniform_of[WK_DTYPE_COUNT] = {[WK_F32] = DRAWN("rand", uniform_f32),
                                                  [WK_F64] = DRAWN("rand", uniform_f64),
                                                  [WK_F16] = DRAWN("rand", uniform_f16),
                                                  [WK_BF16] = DRAWN("rand", uniform_bf16)};
static const wk__op normal_of[WK_DTYPE_COUNT] = {[WK_F32] = DRAWN("randn", normal_f32),
                                                 [WK_F64] = DRAWN("randn", normal_f64),
                                                 [WK_F16] = DRAWN("randn", normal_f32),
                                                 [WK_BF16] = DRAWN("randn", normal_f32)};
static const wk__op below_of[2] = {DRAWN("randint", below_any), DRAWN("randint", below_small)};
static const wk__op bits_of = DRAWN("randperm", all_bits);

/* ---- recording --------------------------------------------------------------------------------------------------- */

static wk_tensor *drawn(wk__create *c, const wk__op *how, wk_dtype compute, int64_t low, int64_t range)
{
    static const uint8_t raw[4] = {WK__REF_IMM | WK__REF_RAW, WK__REF_IMM | WK__REF_RAW, WK__REF_IMM | WK__REF_RAW,
                                   WK__REF_IMM | WK__REF_RAW};
    wk__draw draw = wk__draw_take(wk__numel(c->ndim, c->shape));
    wk__imm imm[4] = {{.i = (int64_t)draw.counter}, {.i = (int64_t)draw.key}, {.i = low}, {.i = range}};
    c->op = how;
    return wk__create_end(c, compute, imm, raw, range ? 4 : 2);
}

/* A call's dtype must have a row in the table. */
static wk_tensor *floats(const wk__op *op, const wk__op *table, wk_site site, const int64_t *shape, int ndim,
                         const wk_options *options)
{
    wk__create c;
    if (!wk__create_begin(&c, op, site, shape, ndim, options, WK_F32)) return NULL;
    if (table[c.dtype].name) return drawn(&c, &table[c.dtype], c.dtype, 0, 0);
    wk__error_set(site, WK_ERR_DTYPE, "%s: %s numbers cannot be drawn, floats can; wk_randint draws whole numbers",
                  op->name, wk_dtype_str(c.dtype));
    return NULL;
}

wk_tensor *wk_rand_at(wk_site site, const int64_t *shape, int ndim, const wk_options *options)
{
    return floats(&wk__op_rand, uniform_of, site, shape, ndim, options);
}
wk_tensor *wk_randn_at(wk_site site, const int64_t *shape, int ndim, const wk_options *options)
{
    return floats(&wk__op_randn, normal_of, site, shape, ndim, options);
}

static wk_tensor *floats_like(const wk__op *op, const wk__op *table, wk_site site, wk_tensor *x,
                              const wk_options *options)
{
    if (!wk__view_begin(op, site, x)) return NULL;
    wk_options like = wk__options_like(x, options);
    return floats(op, table, site, wk__body_of(x)->shape, wk__body_of(x)->ndim, &like);
}

wk_tensor *wk_rand_like_at(wk_site site, wk_tensor *x, const wk_options *options)
{
    return floats_like(&wk__op_rand_like, uniform_of, site, x, options);
}
wk_tensor *wk_randn_like_at(wk_site site, wk_tensor *x, const wk_options *options)
{
    return floats_like(&wk__op_randn_like, normal_of, site, x, options);
}

wk_tensor *wk__uniform(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device)
{
    return wk_rand_at(site, shape, ndim,
                      &(const wk_options){.size = sizeof(wk_options), .dtype = dtype, .device = device});
}
static wk_tensor *normal_on(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device)
{
    return wk_randn_at(site, shape, ndim,
                       &(const wk_options){.size = sizeof(wk_options), .dtype = dtype, .device = device});
}

wk_tensor *wk_randint_at(wk_site site, int64_t low, int64_t high, const int64_t *shape, int ndim,
                         const wk_options *options)
{
    wk__create c;
    if (low >= high) {
        wk__error_set(site, WK_ERR_ARGUMENT, "randint: no number lies in [%lld, %lld)", (long long)low,
                      (long long)high);
        return NULL;
    }
    if (!wk__create_begin(&c, &wk__op_randint, site, shape, ndim, options, WK_I64)) return NULL;
    uint64_t range = (uint64_t)high - (uint64_t)low; /* up to 2^64 - 1 */
    return drawn(&c, &below_of[range < (uint64_t)1 << 31], WK_I64, low, (int64_t)range);
}

/* Where the bits of each place stand once they are sorted. */
wk_tensor *wk_randperm_at(wk_site site, int64_t n, const wk_options *options)
{
    wk__create c;
    wk__compose composed;
    wk_dtype dtype = options && options->dtype ? options->dtype : WK_I64;
    wk_options bits_options = options ? *options : (wk_options){.size = sizeof bits_options};
    bits_options.dtype = WK_I64;
    bits_options.requires_grad = false;
    if (!wk__create_begin(&c, &wk__op_randperm, site, &n, 1, &bits_options, WK_I64)) return NULL;
    if (!wk__compose_begin(&composed, &wk__op_randperm, site, NULL, 0)) return NULL;
    wk_tensor *bits = drawn(&c, &bits_of, WK_I64, 0, 0);
    wk_tensor *sorted[2];
    wk_tensor *order = wk__sorted(&wk__op_randperm, site, bits, 0, false, sorted) ? sorted[1] : NULL;
    return wk__compose_end(&composed, order ? wk_to_dtype_at(site, order, dtype) : NULL, NULL);
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* offset + scale x, in the class of the target; the old numbers do not flow into the new ones. */
static wk_tensor *refilled(const wk__op *op, wk_site site, wk_tensor *x, bool normal, double offset, double scale)
{
    if (!wk__view_begin(op, site, x)) return NULL;
    const wk__body *body = wk__body_of(x);
    if (!wk__is_float(body->dtype)) {
        wk__op_error(op, site, WK_ERR_DTYPE, &x, "$a cannot be filled with floats");
        return NULL;
    }
    wk__compose c;
    bool node = wk__wants_node(wk__context(), &x, 1);
    if (!wk__in_place_allowed(op, site, x) || !wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk_tensor *(*draw)(wk_site, const int64_t *, int, wk_dtype, wk_device) = normal ? normal_on : wk__uniform;
    wk_tensor *numbers = draw(site, body->shape, body->ndim, wk__class_of(body->dtype), body->storage->device->id);
    if (scale != 1) numbers = wk_mul(numbers, scale);
    if (offset != 0) numbers = wk_add(numbers, offset);
    wk__before before;
    wk__before_take(&before, x);
    bool fine = numbers && wk__assign(op, site, x, wk__t(numbers));
    wk__compose_end(&c, NULL, NULL);
    fine = fine && (!node || wk__node_attach_in_place(op, site, x, &x, 1, NULL));
    wk__before_end(&before, fine);
    return fine ? x : NULL;
}

wk_tensor *wk_uniform__at(wk_site site, wk_tensor *x, double from, double to)
{
    if (from <= to) return refilled(&wk__op_uniform_, site, x, false, from, to - from);
    wk__error_set(site, WK_ERR_ARGUMENT, "uniform_: no number lies in [%g, %g)", from, to);
    return NULL;
}
wk_tensor *wk_normal__at(wk_site site, wk_tensor *x, double mean, double std)
{
    if (std >= 0) return refilled(&wk__op_normal_, site, x, true, mean, std);
    wk__error_set(site, WK_ERR_ARGUMENT, "normal_: a standard deviation of %g is less than 0", std);
    return NULL;
}

static void refilled_gradient(wk__gradient *g)
{
    g->in[0] = wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static wk_options options_of(const wk_value *dtype, const wk_value *device)
{
    wk_options options = {.size = sizeof options, .dtype = (wk_dtype)wk__value_int(dtype, 0)};
    if (device->kind == WK_VALUE_DEVICE) options.device = device->device;
    return options;
}

static int floats_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_options options = options_of(&args[1], &args[2]);
    return wk__one(
        out, floats(op, op == &wk__op_rand ? uniform_of : normal_of, site, args[0].ints, args[0].count, &options));
}
static int like_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_options options = options_of(&args[1], &args[2]);
    return wk__one(out, floats_like(op, op == &wk__op_rand_like ? uniform_of : normal_of, site,
                                    wk__value_tensor(&args[0]), &options));
}
static int randint_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    wk_options options = options_of(&args[3], &args[4]);
    return wk__one(out, wk_randint_at(site, wk__value_int(&args[0], 0), wk__value_int(&args[1], 0), args[2].ints,
                                      args[2].count, &options));
}
static int randperm_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    wk_options options = options_of(&args[1], &args[2]);
    return wk__one(out, wk_randperm_at(site, wk__value_int(&args[0], 0), &options));
}
static int refilled_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_tensor *x = wk__value_tensor(&args[0]),
              *(*call)(wk_site, wk_tensor *, double, double) = op == &wk__op_uniform_ ? wk_uniform__at : wk_normal__at;
    return wk__one(out, call(site, x, wk__value_float(&args[1], 0), wk__value_float(&args[2], 1)));
}

/* ---- references: the same numbers from the functions of ir/random.h ------------------------------------------------ */

uint64_t wk__reference_bits(int64_t n, int64_t k)
{
    const wk_context *context = wk__context();
    uint32_t out[4];
    wk__philox(context->counter - (uint64_t)n + (uint64_t)k, 0, context->key, out);
    return out[0] | (uint64_t)out[1] << 32;
}

double wk__reference_uniform(wk_dtype dtype, int64_t n, int64_t k)
{
    uint64_t bits = wk__reference_bits(n, k);
    if (dtype == WK_F64) return (double)(bits >> 11) * 0x1p-53;
    int kept = dtype == WK_F16 ? 11 : dtype == WK_BF16 ? 8 : 24;
    return ldexp((double)((uint32_t)bits >> (32 - kept)), -kept);
}

static double reference_normal(wk_dtype dtype, int64_t n, int64_t k)
{
    uint64_t bits = wk__reference_bits(n, k);
    return dtype == WK_F64 ? wk__ndtri64(bits) : (double)wk__ndtri32((uint32_t)bits);
}

static void filled_reference(wk__reference *r, int ndim, const int64_t *shape, wk_dtype dtype,
                             double (*number)(wk_dtype, int64_t, int64_t), double offset, double scale)
{
    double *out = wk__reference_out(r, 0, ndim, shape);
    int64_t n = wk__array_numel(&r->out[0]);
    for (int64_t k = 0; k < n; k++) out[k] = offset + scale * number(dtype, n, k);
}
static void rand_reference(wk__reference *r)
{
    filled_reference(r, r->args[0].count, r->args[0].ints, (wk_dtype)wk__value_int(&r->args[1], WK_F32),
                     wk__reference_uniform, 0, 1);
}
static void randn_reference(wk__reference *r)
{
    filled_reference(r, r->args[0].count, r->args[0].ints, (wk_dtype)wk__value_int(&r->args[1], WK_F32),
                     reference_normal, 0, 1);
}
static void rand_like_reference(wk__reference *r)
{
    filled_reference(r, r->in[0].ndim, r->in[0].shape, (wk_dtype)wk__value_int(&r->args[1], r->in[0].dtype),
                     wk__reference_uniform, 0, 1);
}
static void randn_like_reference(wk__reference *r)
{
    filled_reference(r, r->in[0].ndim, r->in[0].shape, (wk_dtype)wk__value_int(&r->args[1], r->in[0].dtype),
                     reference_normal, 0, 1);
}
static void uniform_reference(wk__reference *r)
{
    double from = wk__value_float(&r->args[1], 0), to = wk__value_float(&r->args[2], 1);
    filled_reference(r, r->in[0].ndim, r->in[0].shape, wk__class_of(r->in[0].dtype), wk__reference_uniform, from,
                     to - from);
}
static void normal_reference(wk__reference *r)
{
    filled_reference(r, r->in[0].ndim, r->in[0].shape, wk__class_of(r->in[0].dtype), reference_normal,
                     wk__value_float(&r->args[1], 0), wk__value_float(&r->args[2], 1));
}

static void randint_reference(wk__reference *r)
{
    double *out = wk__reference_out(r, 0, r->args[2].count, r->args[2].ints);
    int64_t n = wk__array_numel(&r->out[0]), low = r->args[0].i;
    for (int64_t k = 0; k < n; k++)
        out[k] = (double)(int64_t)((uint64_t)low +
                                   wk__below(wk__reference_bits(n, k), (uint64_t)r->args[1].i - (uint64_t)low));
}

/* The place of an element's bits among all: how many are smaller, or equal and before it. */
static void randperm_reference(wk__reference *r)
{
    int64_t n = r->args[0].i;
    double *out = wk__reference_out(r, 0, 1, &n);
    for (int64_t k = 0; k < n; k++) {
        int64_t place = 0, own = (int64_t)wk__reference_bits(n, k);
        for (int64_t j = 0; j < n; j++) {
            int64_t other = (int64_t)wk__reference_bits(n, j);
            place += other < own || (other == own && j < k);
        }
        out[place] = (double)k;
    }
}

static const char *const shape_samples[] = {"()",          "(5)",   "(2,3), f64", "(300), f16",
                                            "(300), bf16", "(0,2)", "(1000)",     NULL};
static const char *const like_samples[] = {"[]", "[5]", "[2,3]", "[3], f64", "[0,2]", NULL};
static const char *const refilled_samples[] = {"[]", "[5]", "[2,3], -2, 3", "[3,4], 0.5, 0.75", "[0]", NULL};
static const char *const randint_samples[] = {
    "0, 10, (20)", "-5, 6, (2,3)",     "0, 2147483648, (5)", "-4611686018427387904, 4611686018427387904, (5)",
    "3, 4, ()",    "0, 100, (7), i32", "0, 2, (0)",          NULL};
static const char *const randperm_samples[] = {"10", "1", "0", "100, i32", NULL};

#define RANDOM .group = "random", .domain = WK__FLOATS

const wk__op wk__op_rand = {.name = "rand",
                            .schema = "rand(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",
                            .doc = "uniform in [0, 1)",
                            .invoke = floats_invoke,
                            .reference = rand_reference,
                            .samples = shape_samples,
                            RANDOM};
const wk__op wk__op_randn = {.name = "randn",
                             .schema = "randn(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",
                             .doc = "standard normal",
                             .invoke = floats_invoke,
                             .reference = randn_reference,
                             .samples = shape_samples,
                             RANDOM};
const wk__op wk__op_rand_like = {.name = "rand_like",
                                 .schema =
                                     "rand_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",
                                 .doc = "uniform in [0, 1), shaped like self",
                                 .invoke = like_invoke,
                                 .reference = rand_like_reference,
                                 .samples = like_samples,
                                 RANDOM};
const wk__op wk__op_randn_like = {.name = "randn_like",
                                  .schema =
                                      "randn_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",
                                  .doc = "standard normal, shaped like self",
                                  .invoke = like_invoke,
                                  .reference = randn_like_reference,
                                  .samples = like_samples,
                                  RANDOM};
const wk__op wk__op_randint = {
    .name = "randint",
    .schema = "randint(int low, int high, int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",
    .group = "random",
    .doc = "whole numbers in [low, high), i64",
    .invoke = randint_invoke,
    .reference = randint_reference,
    .samples = randint_samples};
const wk__op wk__op_randperm = {.name = "randperm",
                                .schema = "randperm(int n, *, dtype? dtype=None, Device? device=None) -> Tensor",
                                .group = "random",
                                .doc = "0..n-1 in random order, i64",
                                .invoke = randperm_invoke,
                                .reference = randperm_reference,
                                .samples = randperm_samples};
const wk__op wk__op_uniform_ = {.name = "uniform_",
                                .schema = "uniform_(Tensor(a!) self, float from=0, float to=1) -> Tensor(a!)",
                                .node = "UniformBackward0",
                                .doc = "every element becomes uniform in [from, to)",
                                .gradient = refilled_gradient,
                                .invoke = refilled_invoke,
                                .reference = uniform_reference,
                                .samples = refilled_samples,
                                RANDOM};
const wk__op wk__op_normal_ = {.name = "normal_",
                               .schema = "normal_(Tensor(a!) self, float mean=0, float std=1) -> Tensor(a!)",
                               .node = "NormalBackward0",
                               .doc = "every element becomes normal",
                               .gradient = refilled_gradient,
                               .invoke = refilled_invoke,
                               .reference = normal_reference,
                               .samples = refilled_samples,
                               RANDOM};
