/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_process_logits and wk_generate against goldens/generation.txt, which goldens/make_generation.py writes with
 * transformers:
 *
 *   scores NAME V0 V1 ..         the 2 x 12 scores after the rules of a case
 *   tokens NAME WIDTH V0 V1 ..   the tokens of 2 rows; the network is a table of the scores that follow a token, or for
 *                                names with gpt a small GPT-2, for which the second row has two tokens of padding
 *
 * and random draws, callbacks, modes and messages. */
#include "support/devices.h"
#include <math.h>

enum { VOCABULARY = 12, ROWS = 2, PROMPT = 3, LINE = 4096 };

/* ---- numbers that the script repeats ----------------------------------------------------------------------------- */

static void fill(int number, int64_t count, float *values)
{
    for (int64_t k = 0; k < count; k++) values[k] = (float)(sin(0.37 * (double)(k * k) + 0.7 * (double)k + number) * 2);
}

static wk_tensor *scores(void)
{
    float values[ROWS * VOCABULARY];
    fill(2, ROWS * VOCABULARY, values);
    values[VOCABULARY + 4] = values[VOCABULARY + 5]; /* equal scores */
    return wk_from(values, (ROWS, VOCABULARY));
}

static wk_module *table(int number)
{
    WK_NO_GRAD;
    float values[VOCABULARY * VOCABULARY];
    fill(number, VOCABULARY * VOCABULARY, values);
    wk_module *net = wk_nn_embedding(VOCABULARY, VOCABULARY);
    wk_copy_(wk_module_parameter(net, "weight"), wk_from(values, (VOCABULARY, VOCABULARY)));
    return net;
}

static wk_tensor *prompts(void)
{
    return wk_of(int64_t, (ROWS, PROMPT), 1, 2, 3, 4, 5, 6);
}

/* A GPT-2 of fixed weights. */
static wk_module *gpt(void)
{
    WK_NO_GRAD;
    wk_module *net = wk_nn_gpt(.vocab_size = VOCABULARY, .n_positions = 16, .n_embd = 8, .n_layer = 2, .n_head = 2);
    wk_tensors *all = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(all); k++) {
        float values[VOCABULARY * 32];
        wk_tensor *x = wk_tensors_get(all, k);
        assert_true(wk_numel(x) <= VOCABULARY * 32);
        fill(296 + k, wk_numel(x), values);
        wk_copy_(x, wk_view_as(wk_from(values, (wk_numel(x))), x));
    }
    return net;
}

static wk_tensor *padded(void)
{
    return wk_of(int64_t, (ROWS, PROMPT), 1, 2, 3, 2, 2, 5);
}

static wk_tensor *tokens_of_padded(void)
{
    return wk_of(int64_t, (ROWS, PROMPT), 1, 1, 1, 0, 0, 1);
}

/* An end token, and that behind it. */
#define ENDS .eos_token_id = 9, .pad_token_id = 11

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static wk_tensor *ids(void)
{
    return wk_of(int64_t, (2, 4), 3, 5, 3, 0, 7, 7, 1, 11);
}

static wk_tensor *make_scores(const char *name)
{
    if (!strcmp(name, "penalty")) return wk_process_logits(scores(), .ids = ids(), .repetition_penalty = 1.3);
    if (!strcmp(name, "temperature")) return wk_process_logits(scores(), .temperature = 0.7);
    if (!strcmp(name, "top_k")) return wk_process_logits(scores(), .top_k = 3);
    if (!strcmp(name, "top_k_all")) return wk_process_logits(scores(), .top_k = 50);
    if (!strcmp(name, "top_p")) return wk_process_logits(scores(), .top_p = 0.6);
    if (!strcmp(name, "top_p_zero")) return wk_process_logits(scores(), .top_p = 0);
    if (!strcmp(name, "top_p_two")) return wk_process_logits(scores(), .top_p = 0.1, .min_tokens_to_keep = 2);
    if (!strcmp(name, "min_p")) return wk_process_logits(scores(), .min_p = 0.2);
    if (!strcmp(name, "min_p_three")) return wk_process_logits(scores(), .min_p = 1, .min_tokens_to_keep = 3);
    assert_string_equal(name, "all");
    return wk_process_logits(scores(), .ids = ids(), .repetition_penalty = 1.3, .temperature = 1.7, .top_k = 7,
                             .top_p = 0.9, .min_p = 0.15);
}

static wk_tensor *make_tokens(const char *name)
{
    static const int64_t ends[] = {10, 0, 6};
    wk_module *net = table(1);
    wk_tensor *x = prompts();
    if (!strcmp(name, "greedy")) return wk_generate(net, x, .max_new_tokens = 8);
    if (!strcmp(name, "penalised")) return wk_generate(net, x, .max_new_tokens = 8, .repetition_penalty = 1.8);
    if (!strcmp(name, "ended"))
        return wk_generate(net, x, .max_new_tokens = 8, .eos_token_id = 9, .pad_token_id = 11,
                           .repetition_penalty = 1.8);
    if (!strcmp(name, "ended_early"))
        return wk_generate(net, x, .max_new_tokens = 8, .eos_token_id = 9, .eos_token_ids = ends, .eos_count = 3,
                           .repetition_penalty = 1.8);
    assert_string_equal(name, "likeliest");
    return wk_generate(net, x, .max_new_tokens = 8, .do_sample = true, .top_k = 1);
}

static wk_tensor *continue_padded(const char *name)
{
    wk_module *net = gpt();
    wk_tensor *x = padded(), *mask = tokens_of_padded();
    if (!strcmp(name, "gpt")) return wk_generate(net, x, .max_new_tokens = 8, .mask = mask);
    if (!strcmp(name, "gpt_penalised"))
        return wk_generate(net, x, .max_new_tokens = 8, .mask = mask, .repetition_penalty = 1.8);
    if (!strcmp(name, "beams_gpt"))
        return wk_generate(net, x, .max_new_tokens = 8, .mask = wk_to_dtype(mask, WK_BOOL), .num_beams = 3,
                           .eos_token_id = 9, .pad_token_id = 11);
    assert_string_equal(name, "beams_gpt_penalised");
    return wk_generate(net, x, .max_new_tokens = 8, .mask = mask, .num_beams = 3, .eos_token_id = 9, .pad_token_id = 11,
                       .repetition_penalty = 20);
}

static wk_tensor *search(const char *name)
{
    static const int64_t end[] = {3, 5};
    wk_module *net = table(5);
    wk_tensor *x = prompts();
    if (!strcmp(name, "beams")) return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3);
    if (!strcmp(name, "beams_ended")) return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS);
    if (!strcmp(name, "beams_two_ends"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 4, ENDS, .eos_token_ids = end, .eos_count = 1);
    if (!strcmp(name, "beams_early"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS, .early_stopping = true);
    if (!strcmp(name, "beams_never"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS,
                           .early_stopping = WK_EARLY_STOPPING_NEVER);
    if (!strcmp(name, "beams_long"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS, .length_penalty = 3);
    if (!strcmp(name, "beams_short"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS, .length_penalty = -2);
    if (!strcmp(name, "beams_no_penalty"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS, .length_penalty = 0);
    if (!strcmp(name, "beams_penalised"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 4, ENDS, .repetition_penalty = 1.5);
    if (!strcmp(name, "beams_three_ends"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS, .eos_token_ids = end, .eos_count = 2);
    if (!strcmp(name, "beams_three_ends_never"))
        return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 3, ENDS, .eos_token_ids = end, .eos_count = 2,
                           .early_stopping = WK_EARLY_STOPPING_NEVER);
    assert_string_equal(name, "beams_many");
    return wk_generate(net, x, .max_new_tokens = 8, .num_beams = 12, ENDS);
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static void expect_scores(const char *name, char *at)
{
    float values[ROWS * VOCABULARY];
    assert_int_equal(wk_read(make_scores(name), values, sizeof values), WK_OK);
    for (int k = 0; k < ROWS * VOCABULARY; k++) {
        const double want = strtod(at, &at), have = (double)values[k];
        if (!(have == want || fabs(have - want) <= 1e-6 * (1 + fabs(want))))
            fail_msg("%s: score %d is %.9g, not %.9g", name, k, have, want);
    }
}

static void expect_tokens(const char *name, char *at)
{
    const int64_t width = strtoll(at, &at, 10);
    wk_tensor *x = strstr(name, "gpt")     ? continue_padded(name)
                   : strstr(name, "beams") ? search(name)
                                           : make_tokens(name);
    expect_ok();
    EXPECT_SHAPE(x, ROWS, width);
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t k = 0; k < width; k++) {
            const int64_t want = strtoll(at, &at, 10), have = wk_item_i64(wk_select(wk_select(x, 0, row), 0, k));
            if (have != want)
                fail_msg("%s: token %lld of row %lld is %lld, not %lld", name, (long long)k, (long long)row,
                         (long long)have, (long long)want);
        }
}

/* Compares the cases of the golden file whose lines begin with these words. Returns their number. */
static int compare(const char *kind, bool beams, void (*expect)(const char *name, char *at))
{
    char path[1024], line[LINE];
    const char *root = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/goldens/generation.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int done = 0;
    while (fgets(line, sizeof line, file)) {
        char *name = strchr(line, ' '), *at;
        assert_non_null(name);
        *name++ = 0;
        at = strchr(name, ' ');
        assert_non_null(at);
        *at++ = 0;
        if (strcmp(line, kind) != 0 || (strncmp(name, "beams", 5) == 0) != beams) continue;
        WK_SCOPE;
        expect(name, at);
        expect_ok();
        done++;
    }
    fclose(file);
    return done;
}

static void rules_are_those_of_transformers(void **state)
{
    (void)state;
    assert_int_equal(compare("scores", false, expect_scores), 10);
}

static void tokens_are_those_of_transformers(void **state)
{
    (void)state;
    assert_int_equal(compare("tokens", false, expect_tokens), 7);
}

static void beam_search_is_that_of_transformers(void **state)
{
    (void)state;
    assert_int_equal(compare("tokens", true, expect_tokens), 14);
}

/* Then the search ends after one step, and the width of a step is that of the vocabulary. */
static void beam_search_may_end_at_all_tokens(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t ends[VOCABULARY];
    for (int64_t k = 0; k < VOCABULARY; k++) ends[k] = k;
    wk_tensor *out = wk_generate(table(5), prompts(), .num_beams = 2, .eos_token_ids = ends, .eos_count = VOCABULARY);
    assert_true(wk_equal(out, wk_generate(table(5), prompts(), .max_new_tokens = 1)));
    expect_ok();
}

enum { STEPS = 30 };
static int calls;

static wk_tensor *count_calls(wk_module *self, wk_tensor *x)
{
    calls++;
    return wk_forward(wk_module_child(self, "table"), x);
}

/* Returns the number of steps of a beam search. */
static int steps_of(wk_early_stopping early, double length_penalty)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "counted", .forward1 = count_calls};
    wk_module *net = wk_module_new(&kind);
    wk_module_add(net, "table", table(5));
    calls = 0;
    wk_generate(net, prompts(), .max_new_tokens = STEPS, .num_beams = 3, ENDS, .length_penalty = length_penalty,
                .early_stopping = early);
    return calls;
}

static void beam_search_ends_as_soon_as_it_can(void **state)
{
    (void)state;
    WK_SCOPE;
    const int early = steps_of(WK_EARLY_STOPPING_ON, 1);
    assert_true(early < steps_of(WK_EARLY_STOPPING_OFF, 1));
    /* a longer sequence scores less with a negative penalty */
    const int off = steps_of(WK_EARLY_STOPPING_OFF, -0.5);
    assert_true(early < off && off < STEPS);
    assert_int_equal(steps_of(WK_EARLY_STOPPING_NEVER, -0.5), off);
    assert_int_equal(steps_of(WK_EARLY_STOPPING_NEVER, 1), STEPS);
    expect_ok();
}

/* A step keeps two tokens for each of two sequences, whatever .top_k is. It draws all of these four, so the result is
 * that without draws. */
static void beams_draw_likely_tokens(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = table(5);
    wk_tensor *x = prompts(), *drawn = wk_generate(net, x, .num_beams = 2, .do_sample = true, .top_k = 1);
    assert_true(wk_equal(drawn, wk_generate(net, x, .num_beams = 2)));
    assert_false(wk_equal(drawn, wk_generate(net, x)));
    expect_ok();
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static void rules_return_a_new_tensor_of_f32(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = scores(), *half = wk_to_dtype(x, WK_F16);
    wk_tensor *same = wk_process_logits(x), *wide = wk_process_logits(half);
    assert_ptr_not_equal(same, x);
    assert_true(wk_equal(same, x));
    assert_false(wk_same_storage(same, x));
    assert_int_equal(wk_dtype_of(wide), WK_F32);
    wk_tensor *narrow = wk_process_logits(x, .ids = wk_to_dtype(ids(), WK_I32), .repetition_penalty = 1.3);
    assert_true(wk_equal(narrow, wk_process_logits(x, .ids = ids(), .repetition_penalty = 1.3)));
    assert_true(wk_equal(wk_process_logits(x, .top_p = 0.1, .min_tokens_to_keep = VOCABULARY + 1), x));
    assert_true(wk_equal(wk_process_logits(x, .min_p = 1, .min_tokens_to_keep = VOCABULARY + 1), x));
    wk_tensor *three = wk_process_logits(x, .top_k = 1, .min_tokens_to_keep = 3);
    assert_true(wk_equal(three, wk_process_logits(x, .top_k = 3)));
    expect_ok();
}

static void rules_report_bad_input(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = scores();
    wk_process_logits(wk_ones((3)));
    expect_error(
        "process_logits: expected scores (B, V) with V at least 1, got f32[3]; use wk_unsqueeze(logits, 0) for one "
        "row",
        NULL);
    wk_process_logits(ids());
    expect_error("process_logits: expected scores of a floating dtype, got i64[2,4]", NULL);
    wk_process_logits(x, .ids = wk_zeros((3, 1), .dtype = WK_I64));
    expect_error("process_logits: .ids must be (2, L) for scores of 2 rows, got i64[3,1]", NULL);
    wk_process_logits(x, .ids = x);
    expect_error("process_logits: .ids must be integers, got f32[2,12]; convert them: wk_to_dtype(ids, WK_I64)", NULL);
    wk_process_logits(x, .temperature = 0);
    expect_error("process_logits: .temperature must be a positive number, got 0; wk_argmax, and wk_generate without "
                 ".do_sample, take the likeliest token",
                 NULL);
    wk_process_logits(x, .temperature = INFINITY);
    expect_error("process_logits: .temperature must be a positive number, got inf", NULL);
    wk_process_logits(x, .repetition_penalty = -1);
    expect_error("process_logits: .repetition_penalty must be a positive number, got -1", NULL);
    wk_process_logits(x, .repetition_penalty = INFINITY);
    expect_error("process_logits: .repetition_penalty must be a positive number, got inf", NULL);
    wk_process_logits(x, .top_p = 1.5);
    expect_error("process_logits: .top_p must be in [0, 1], got 1.5", NULL);
    wk_process_logits(x, .min_p = -0.5);
    expect_error("process_logits: .min_p must be in [0, 1], got -0.5", NULL);
    wk_process_logits(x, .top_k = -1);
    expect_error("process_logits: .top_k must be at least 0, got -1", NULL);
    wk_process_logits(x, .min_tokens_to_keep = -1);
    expect_error("process_logits: .min_tokens_to_keep must be at least 1, got -1", NULL);
}

/* ---- random draws ------------------------------------------------------------------------------------------------ */

static void the_same_seed_gives_the_same_tokens(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = table(1);
    wk_seed(7);
    wk_tensor *first = wk_generate(net, prompts(), .do_sample = true, .max_new_tokens = 30);
    wk_tensor *next = wk_generate(net, prompts(), .do_sample = true, .max_new_tokens = 30);
    wk_seed(7);
    assert_true(wk_equal(wk_generate(net, prompts(), .do_sample = true, .max_new_tokens = 30), first));
    assert_false(wk_equal(next, first));
    expect_ok();
}

/* Token 3 is followed by the tokens 0, 1, 2 with probabilities 0.5, 0.3, 0.2. */
static void draws_follow_the_probabilities(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { DRAWS = 4000 };
    const double share[] = {0.5, 0.3, 0.2};
    wk_module *net = wk_nn_embedding(4, 4);
    wk_tensor *weight =
        wk_of(float, (4, 4), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.6931472F, -1.2039728F, -1.6094379F, -INFINITY);
    {
        WK_NO_GRAD;
        wk_copy_(wk_module_parameter(net, "weight"), weight);
    }
    wk_seed(1);
    wk_tensor *out = wk_generate(net, wk_full((DRAWS, 1), 3, .dtype = WK_I64), .do_sample = true, .max_new_tokens = 1);
    wk_tensor *drawn = wk_select(out, 1, 1);
    for (int token = 0; token < 3; token++) {
        const double found = wk_item(wk_mean(wk_to_dtype(wk_eq(drawn, token), WK_F32)));
        assert_true(fabs(found - share[token]) < 4 * sqrt(share[token] * (1 - share[token]) / DRAWS));
    }
    expect_ok();
}

static void devices_give_the_same_tokens(void **state)
{
    (void)state;
    wk_tensor *drawn = NULL, *best = NULL;
    WK_SCOPE;
    EACH_DEVICE(device)
    {
        wk_module *net = wk_module_to(table(1), device);
        wk_tensor *x = wk_to(prompts(), device);
        wk_seed(7);
        wk_tensor *y = wk_generate(net, x, .do_sample = true, .max_new_tokens = 10, .repetition_penalty = 1.2,
                                   .temperature = 1.5, .top_k = 9, .top_p = 0.9, .min_p = 0.01, ENDS);
        wk_tensor *z = wk_generate(net, x, .num_beams = 3, .max_new_tokens = 6, ENDS);
        expect_ok();
        assert_true(wk_device_eq(wk_device_of(y), device) && wk_device_eq(wk_device_of(z), device));
        y = wk_to(y, wk_cpu());
        z = wk_to(z, wk_cpu());
        if (!drawn) drawn = y, best = z;
        assert_true(wk_equal(y, drawn) && wk_equal(z, best));
        wk_tensor *cached = wk_generate(wk_module_to(gpt(), device), wk_to(padded(), device), .max_new_tokens = 8,
                                        .mask = wk_to(tokens_of_padded(), device));
        assert_true(wk_equal(wk_to(cached, wk_cpu()), continue_padded("gpt")));
    }
    expect_ok();
}

/* ---- callbacks and modes ----------------------------------------------------------------------------------------- */

/* Tokens that .on_token has received. */
typedef struct received {
    int64_t token[16][ROWS];
    int steps, most;
    bool fails;
} received;

static bool receive(const int64_t *tokens, int64_t rows, void *user)
{
    received *r = user;
    assert_int_equal(rows, ROWS);
    memcpy(r->token[r->steps++], tokens, sizeof r->token[0]);
    if (r->fails) wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    return r->steps < r->most;
}

static void the_callback_gets_each_step_and_may_stop(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = table(1);
    received all = {.most = 16}, three = {.most = 3};
    wk_tensor *out = wk_generate(net, prompts(), .max_new_tokens = 8, .eos_token_id = 9, .pad_token_id = 11,
                                 .on_token = receive, .user = &all);
    assert_int_equal(all.steps, wk_size(out, 1) - PROMPT);
    for (int k = 0; k < all.steps; k++)
        for (int row = 0; row < ROWS; row++)
            assert_int_equal(all.token[k][row], wk_item_i64(wk_select(wk_select(out, 1, PROMPT + k), 0, row)));
    assert_int_equal(all.token[1][0], 11);
    wk_tensor *part = wk_generate(net, prompts(), .max_new_tokens = 8, .on_token = receive, .user = &three);
    assert_int_equal(three.steps, 3);
    EXPECT_SHAPE(part, ROWS, PROMPT + 3);
    expect_ok();
}

static void an_error_of_the_callback_fails_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    received r = {.most = 16, .fails = true};
    assert_null(wk_generate(table(1), prompts(), .on_token = receive, .user = &r));
    assert_int_equal(r.steps, 1);
    expect_error("matmul", ".on_token of generate", NULL);
}

static wk_tensor *scores_of_mode(wk_module *self, wk_tensor *x)
{
    assert_false(wk_module_training(self));
    assert_false(wk_is_grad_enabled());
    return wk_forward(wk_module_child(self, "table"), x);
}

static void modes_are_restored(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "model", .forward1 = scores_of_mode};
    wk_module *net = wk_module_new(&kind), *below = wk_module_add(net, "table", table(1));
    wk_module_train(below, false);
    wk_tensor *out = wk_generate(net, prompts(), .max_new_tokens = 2);
    EXPECT_SHAPE(out, ROWS, PROMPT + 2);
    assert_false(wk_requires_grad(out));
    assert_true(wk_module_training(net) && !wk_module_training(below));
    wk_generate(net, wk_full((1, 1), 99, .dtype = WK_I64), .max_new_tokens = 2, .eos_token_id = 1);
    expect_error("99", NULL);
    assert_true(wk_module_training(net) && !wk_module_training(below));
}

/* Scores (B, T, 12) of which those at the end count the tokens that the network has seen. */
static wk_tensor *count_tokens(wk_module *self, wk_tensor *x)
{
    (void)self;
    wk_tensor *count = wk_full((wk_size(x, 0), wk_size(x, 1), 1), (double)wk_size(x, 1), .dtype = WK_I64);
    return wk_to_dtype(wk_eq(wk_arange(VOCABULARY), count), WK_F32);
}

static void context_limits_what_the_network_sees(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "counter", .forward1 = count_tokens};
    wk_module *net = wk_module_new(&kind);
    wk_tensor *x = wk_of(int64_t, (1, 2), 0, 0);
    EXPECT_VALUES(wk_generate(net, x, .max_new_tokens = 4), 0, 0, 0, 2, 3, 4, 5);
    EXPECT_VALUES(wk_generate(net, x, .max_new_tokens = 4, .context = 3), 0, 0, 0, 2, 3, 3, 3);
    expect_ok();
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static wk_tensor *scores_of_model(wk_module *self, wk_tensor *x)
{
    return wk_forward(wk_module_child(self, "model"), x);
}

/* Returns a module that computes all positions in each step. */
static wk_module *without_cache(wk_module *model)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "wrapped", .forward1 = scores_of_model};
    wk_module *net = wk_module_new(&kind);
    wk_module_add(net, "model", model);
    return net;
}

static void the_cache_changes_no_token(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = gpt(), *slow = without_cache(gpt());
    wk_tensor *x = prompts();
    assert_true(wk_equal(wk_generate(net, x, .max_new_tokens = 13), wk_generate(slow, x, .max_new_tokens = 13)));
    assert_true(wk_equal(wk_generate(net, x, .max_new_tokens = 30, .context = 6),
                         wk_generate(slow, x, .max_new_tokens = 30, .context = 6)));
    assert_true(wk_equal(wk_generate(net, x, .max_new_tokens = 9, .context = 2),
                         wk_generate(slow, x, .max_new_tokens = 9, .context = 2)));
    assert_true(wk_equal(wk_generate(net, x, .max_new_tokens = 12, .num_beams = 4, ENDS),
                         wk_generate(slow, x, .max_new_tokens = 12, .num_beams = 4, ENDS)));
    assert_true(wk_equal(wk_generate(net, x, .max_new_tokens = 20, .num_beams = 3, .context = 5),
                         wk_generate(slow, x, .max_new_tokens = 20, .num_beams = 3, .context = 5)));
    wk_seed(3);
    wk_tensor *drawn = wk_generate(net, x, .max_new_tokens = 12, .do_sample = true, .top_p = 0.9, .num_beams = 2);
    wk_seed(3);
    assert_true(
        wk_equal(drawn, wk_generate(slow, x, .max_new_tokens = 12, .do_sample = true, .top_p = 0.9, .num_beams = 2)));
    expect_ok();
}

static void padding_changes_no_token(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = gpt();
    wk_tensor *one = wk_of(int64_t, (1, 1), 5);
    for (int64_t context = 0; context <= 4; context += 4) { /* 0: all */
        wk_tensor *both =
            wk_generate(net, padded(), .max_new_tokens = 12, .mask = tokens_of_padded(), .context = context);
        wk_tensor *alone = wk_generate(net, one, .max_new_tokens = 12, .context = context);
        assert_true(wk_equal(wk_narrow(wk_narrow(both, 0, 1, 1), 1, 2, 13), alone));
    }
    expect_ok();
}

static void too_few_positions_are_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_generate(gpt(), prompts(), .max_new_tokens = 15);
    expect_error("generate: a prompt of 3 and .max_new_tokens of 15 exceed the 16 positions of the model; add "
                 ".context = 16 to continue with the last tokens",
                 NULL);
    wk_generate(gpt(), prompts(), .max_new_tokens = 15, .context = 17);
    expect_error("generate: .context must be at most 16, the positions of the model, got 17", NULL);
    EXPECT_SHAPE(wk_generate(gpt(), prompts(), .max_new_tokens = 2, .context = 17), ROWS, 5);
    EXPECT_SHAPE(wk_generate(gpt(), prompts(), .max_new_tokens = 14), ROWS, 17);
    expect_ok();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static wk_tensor *flat_scores(wk_module *self, wk_tensor *x)
{
    (void)self;
    return wk_to_dtype(x, WK_F32);
}

static void bad_input_is_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind flat = {.size = sizeof flat, .name = "flat", .forward1 = flat_scores};
    static const int64_t negative[] = {-3};
    wk_module *net = table(1);
    wk_tensor *x = prompts();
    wk_generate(net, wk_of(int64_t, (2), 1, 2));
    expect_error("generate: expected ids (B, T) of integers", "got i64[2]; use wk_unsqueeze(ids, 0) for one row", NULL);
    wk_generate(net, wk_full((), 1, .dtype = WK_I64));
    expect_error("generate: expected ids (B, T) of integers", "got i64[]", NULL);
    wk_generate(net, wk_ones((1, 2)));
    expect_error("generate: expected ids (B, T) of integers with at least one row and one token, got f32[1,2]; convert "
                 "them: wk_to_dtype(ids, WK_I64)",
                 NULL);
    wk_generate(net, x, .max_new_tokens = -1);
    expect_error("generate: .max_new_tokens must be at least 1, got -1", NULL);
    wk_generate(net, x, .context = -1);
    expect_error("generate: .context must be at least 1, got -1", NULL);
    wk_generate(net, x, .top_k = 3);
    expect_error("generate: .top_k = 3 needs .do_sample = true", NULL);
    wk_generate(net, x, .temperature = 0.5);
    expect_error("generate: .temperature = 0.5 needs .do_sample = true", NULL);
    wk_generate(net, x, .temperature = 0);
    expect_error("generate: .temperature must be a positive number, got 0", "without .do_sample", NULL);
    wk_generate(net, x, .top_p = 0.5);
    expect_error("generate: .top_p = 0.5 needs .do_sample = true", NULL);
    wk_generate(net, x, .min_p = 0.5);
    expect_error("generate: .min_p = 0.5 needs .do_sample = true", NULL);
    wk_generate(net, x, .top_p = 0);
    expect_error("generate: .top_p = 0 needs .do_sample = true", NULL);
    wk_generate(net, x, .do_sample = true, .top_p = 2);
    expect_error("generate: .top_p must be in [0, 1], got 2", NULL);
    wk_generate(net, x, .num_beams = -2);
    expect_error("generate: .num_beams must be at least 1, got -2", NULL);
    wk_generate(net, x, .num_beams = INT64_MAX);
    expect_error("generate: .num_beams must be smaller, got 9.22337e+18", NULL);
    wk_generate(net, x, .length_penalty = 2);
    expect_error("generate: .length_penalty needs .num_beams above 1", NULL);
    wk_generate(net, x, .early_stopping = true);
    expect_error("generate: .early_stopping needs .num_beams above 1", NULL);
    wk_generate(net, x, .num_beams = 2, .early_stopping = (wk_early_stopping)3);
    expect_error("generate: .early_stopping must be a WK_EARLY_STOPPING_ constant, got 3", NULL);
    wk_generate(net, x, .num_beams = 2, .on_token = receive);
    expect_error("generate: .on_token cannot be used with .num_beams", NULL);
    wk_generate(net, x, .stop_count = 1);
    expect_error("generate: .on_text and .stop are options of wk_generate_text", NULL);
    wk_generate(net, x, .eos_token_id = 1.5);
    expect_error("generate: .eos_token_id must be a token, got 1.5", NULL);
    wk_generate(net, x, .pad_token_id = -2);
    expect_error("generate: .pad_token_id must be a token, got -2", NULL);
    wk_generate(net, x, .eos_count = 2);
    expect_error("generate: .eos_count must be the number of .eos_token_ids, got 2", NULL);
    wk_generate(net, x, .eos_token_ids = negative, .eos_count = 1);
    expect_error("generate: .eos_token_ids must be tokens, got -3", NULL);
    wk_generate(wk_module_new(&flat), x);
    expect_error("generate: the network must return scores (2, T, vocabulary), got f32[2,3]", NULL);
}

/* Tokens in host memory are checked before anything is computed. */
static void tokens_that_the_network_lacks_are_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    static const int64_t ends[] = {3, 14};
    static const char missing[] =
        "generate: token 12 is not in the model, which has 12 tokens (valid: [0, 12)); encode "
        "texts with the vocabulary of this model";
    wk_module *net = gpt();
    wk_tensor *x = prompts();
    wk_generate(net, wk_of(int64_t, (1, 3), 1, 12, 3));
    expect_error(missing, NULL);
    wk_generate(net, wk_of(int32_t, (1, 3), 1, 12, 3));
    expect_error("token 12 is not in the model", NULL);
    wk_generate(net, wk_of(int64_t, (1, 3), 1, -1, 3), .mask = wk_ones((1, 3), .dtype = WK_BOOL));
    expect_error("generate: token -1 is negative; use a token of the vocabulary, for padding as well", NULL);
    wk_generate(table(1), wk_of(int64_t, (1, 3), 1, -1, 3));
    expect_error("generate: token -1 is negative", NULL);
    wk_generate(net, x, .max_new_tokens = 2, .eos_token_id = 12);
    expect_error("generate: .eos_token_id 12 is not in the network, which has 12 tokens (valid: [0, 12))", NULL);
    wk_generate(table(1), x, .eos_token_id = 2, .eos_token_ids = ends, .eos_count = 2);
    expect_error("generate: .eos_token_ids 14 is not in the network, which has 12 tokens", NULL);
    wk_generate(table(1), x, .eos_token_id = 2, .pad_token_id = 13);
    expect_error("generate: .pad_token_id 13 is not in the network, which has 12 tokens", NULL);
    EXPECT_SHAPE(wk_generate(net, x, .max_new_tokens = 2, .eos_token_id = 11, .pad_token_id = 11), ROWS, PROMPT + 2);
    expect_ok();
}

/* A body and BERT return (B, T, n) as well, but their features are not scores. */
static void networks_without_scores_are_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *bert = wk_nn_bert(.vocab_size = VOCABULARY, .hidden_size = 8, .num_hidden_layers = 1,
                                 .num_attention_heads = 2, .intermediate_size = 8);
    wk_generate(bert, prompts());
    expect_error("generate: a bert_model computes features, not scores of the next token; use a model of wk_nn_gpt, "
                 "wk_nn_llama or wk_nn_pretrained, or a module that returns scores (B, T, V)",
                 NULL);
    wk_generate(wk_module_child(gpt(), "transformer"), prompts());
    expect_error("generate: a gpt2_model computes features", NULL);
}

static void bad_masks_are_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = table(1);
    wk_generate(net, prompts(), .mask = wk_ones((2, 4), .dtype = WK_BOOL));
    expect_error("generate: .mask must have the shape of ids, (2, 3), got bool[2,4]", NULL);
    wk_generate(net, prompts(), .mask = wk_ones((2, 3)));
    expect_error("generate: .mask must be bool or integers, got f32[2,3]; convert it: wk_to_dtype(mask, WK_BOOL)",
                 NULL);
    wk_generate(net, prompts(), .mask = wk_of(int64_t, (2, 3), 0, 1, 1, 1, 0, 1));
    expect_error("generate: row 1 of .mask has padding behind a token; put it at the left", NULL);
    wk_generate(net, prompts(), .mask = wk_of(int64_t, (2, 3), 0, 0, 0, 1, 1, 1));
    expect_error("generate: row 0 of .mask has no token", NULL);
    assert_null(wk_generate(net, prompts(), .mask = wk_reshape(wk_ones((2, 3)), (7)))); /* not as without a mask */
    expect_error("reshape", NULL);
    assert_null(wk_process_logits(scores(), .ids = wk_reshape(wk_ones((2, 3)), (7))));
    expect_error("reshape", NULL);
    wk_generate(net, prompts(), .mask = wk_ones((2, 3), .dtype = WK_BOOL));
    expect_error("generate: .mask needs a model of wk_nn_gpt, wk_nn_llama or wk_nn_pretrained, got an embedding", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_those_of_transformers),
        cmocka_unit_test(tokens_are_those_of_transformers),
        cmocka_unit_test(beam_search_is_that_of_transformers),
        cmocka_unit_test(beam_search_may_end_at_all_tokens),
        cmocka_unit_test(beam_search_ends_as_soon_as_it_can),
        cmocka_unit_test(beams_draw_likely_tokens),
        cmocka_unit_test(rules_return_a_new_tensor_of_f32),
        cmocka_unit_test(rules_report_bad_input),
        cmocka_unit_test(the_same_seed_gives_the_same_tokens),
        cmocka_unit_test(draws_follow_the_probabilities),
        cmocka_unit_test(devices_give_the_same_tokens),
        cmocka_unit_test(the_callback_gets_each_step_and_may_stop),
        cmocka_unit_test(an_error_of_the_callback_fails_the_call),
        cmocka_unit_test(modes_are_restored),
        cmocka_unit_test(context_limits_what_the_network_sees),
        cmocka_unit_test(the_cache_changes_no_token),
        cmocka_unit_test(padding_changes_no_token),
        cmocka_unit_test(too_few_positions_are_reported),
        cmocka_unit_test(bad_input_is_reported),
        cmocka_unit_test(tokens_that_the_network_lacks_are_reported),
        cmocka_unit_test(networks_without_scores_are_reported),
        cmocka_unit_test(bad_masks_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
