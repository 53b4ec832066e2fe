/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the notation of samples described in sweep.h. */
#include "support/sweep/sweep.h"
#include <ctype.h>
#include <math.h>

typedef struct reader {
    const char *at;
    sweep_sample *sample;
    const char *why;
} reader;

static bool refuse(reader *r, const char *why)
{
    r->why = why;
    return false;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ') r->at++;
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    skip_blanks(r);
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0 || isalnum((unsigned char)r->at[n])) return false;
    r->at += n;
    return true;
}

static bool read_dtype(reader *r, wk_dtype *dtype)
{
    for (wk_dtype d = WK_F32; d < WK_DTYPE_COUNT; d++)
        if (take_word(r, wk_dtype_str(d))) {
            *dtype = d;
            return true;
        }
    return false;
}

static bool read_whole(reader *r, int64_t *number)
{
    skip_blanks(r);
    char *end;
    *number = strtoll(r->at, &end, 10);
    if (end == r->at) return refuse(r, "an integer is missing");
    r->at = end;
    return true;
}

/* Parses after '[': sizes up to ']', then an optional ":i64<7". */
static bool read_operand(reader *r)
{
    if (r->sample->operands == SWEEP_TENSORS) return refuse(r, "too many tensors");
    sweep_operand *operand = &r->sample->operand[r->sample->operands++];
    while (!take(r, ']')) {
        if (operand->ndim == WK__MAX_DIMS) return refuse(r, "too many dimensions");
        if (operand->ndim && !take(r, ',')) return refuse(r, "',' or ']' is missing");
        if (!read_whole(r, &operand->shape[operand->ndim++])) return false;
    }
    if (take(r, ':') && !read_dtype(r, &operand->fixed)) return refuse(r, "a dtype is missing after ':'");
    return !take(r, '<') || read_whole(r, &operand->below);
}

static bool read_ints(reader *r, wk_value *value)
{
    sweep_sample *s = r->sample;
    value->kind = WK_VALUE_INTS;
    value->ints = &s->number[s->ints];
    while (!take(r, ')')) {
        if (s->ints == SWEEP_INTS) return refuse(r, "too many numbers");
        if (value->count && !take(r, ',')) return refuse(r, "',' or ')' is missing");
        if (!read_whole(r, &s->number[s->ints++])) return false;
        value->count++;
    }
    return true;
}

/* Parses after the opening quote. */
static bool read_text(reader *r, wk_value *value)
{
    sweep_sample *s = r->sample;
    const char *end = strchr(r->at, '"');
    size_t n = end ? (size_t)(end - r->at) : sizeof *s->text;
    if (s->texts == SWEEP_TEXTS || n >= sizeof *s->text) return refuse(r, "an unterminated, too long or third string");
    memcpy(s->text[s->texts], r->at, n);
    *value = (wk_value){.kind = WK_VALUE_TEXT, .text = s->text[s->texts++]};
    r->at = end + 1;
    return true;
}

static bool read_number(reader *r, wk_value *value)
{
    char *whole_end, *end;
    skip_blanks(r);
    int64_t whole = strtoll(r->at, &whole_end, 10);
    double number = strtod(r->at, &end);
    if (end == r->at) return refuse(r, "an unknown argument");
    *value = end == whole_end ? (wk_value){.kind = WK_VALUE_INT, .i = whole}
                              : (wk_value){.kind = WK_VALUE_FLOAT, .f = number};
    r->at = end;
    return true;
}

static bool read_argument(reader *r, int place)
{
    wk_value *value = &r->sample->argument[place];
    wk_dtype dtype;
    r->sample->first[place] = r->sample->operands;
    if (take(r, '[')) {
        value->kind = WK_VALUE_TENSOR;
        return read_operand(r);
    }
    if (take(r, '{')) {
        for (value->kind = WK_VALUE_TENSORS; !take(r, '}'); value->count++)
            if (!take(r, '[') || !read_operand(r)) return r->why ? false : refuse(r, "'[' or '}' is missing");
        return true;
    }
    if (take(r, '(')) return read_ints(r, value);
    if (take(r, '"')) return read_text(r, value);
    if (take_word(r, "none")) return true;
    bool yes = take_word(r, "true");
    if (yes || take_word(r, "false"))
        *value = (wk_value){.kind = WK_VALUE_BOOL, .i = yes};
    else if (take_word(r, "cpu"))
        *value = (wk_value){.kind = WK_VALUE_DEVICE, .device = wk_cpu()};
    else if (read_dtype(r, &dtype))
        *value = (wk_value){.kind = WK_VALUE_DTYPE, .i = dtype};
    else
        return read_number(r, value);
    return true;
}

bool sweep_parse(const char *text, sweep_sample *sample, const char **why)
{
    reader r = {.at = text, .sample = sample};
    memset(sample, 0, sizeof *sample);
    bool more = true;
    skip_blanks(&r);
    for (more = *r.at != 0; more; more = take(&r, ',')) {
        if (sample->arguments == SWEEP_ARGUMENTS) refuse(&r, "too many arguments");
        if (r.why || !read_argument(&r, sample->arguments++)) break;
    }
    skip_blanks(&r);
    if (!r.why && *r.at) refuse(&r, "',' is missing");
    *why = r.why;
    return !r.why;
}

void sweep_bind(sweep_sample *sample, wk_tensor *const tensor[])
{
    memcpy(sample->tensor, tensor, sizeof *tensor * (size_t)sample->operands);
    for (int k = 0, texts = 0; k < sample->arguments; k++) {
        wk_value *value = &sample->argument[k];
        if (value->kind == WK_VALUE_TENSOR) value->tensor = sample->tensor[sample->first[k]];
        if (value->kind == WK_VALUE_TENSORS) value->tensors = &sample->tensor[sample->first[k]];
        if (value->kind == WK_VALUE_TEXT) value->text = sample->text[texts++];
    }
}

bool sweep_takes_dtype(const sweep_sample *sample)
{
    for (int k = 0; k < sample->operands; k++)
        if (!sample->operand[k].fixed) return true;
    return false;
}

bool sweep_writes(const wk__op *op)
{
    return op->parameter_count > 0 && op->parameters[0].mutated;
}
