/* SPDX-License-Identifier: Apache-2.0 */
/* Options of optimisers: defaults and checks, driven by the option table of the algorithm. */
#include "optim.h"
#include <string.h>

static void *member(void *options, const wk__optim_option *s)
{
    return (char *)options + s->offset;
}
static const void *default_member(const void *usual, const wk__optim_option *s)
{
    return (const char *)usual + s->offset;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Sets an unset option from `usual`, or to its default. */
static void apply_default(const wk__optim_option *s, void *own, const void *usual)
{
    void *at = member(own, s);
    if (s->kind == WK__OPTION_FLOAT) {
        double *number = at;
        *number = wk__option_or(*number, usual ? *(const double *)default_member(usual, s) : s->default_value);
    } else if (s->kind == WK__OPTION_INT) {
        int64_t *number = at;
        if (*number == 0) *number = usual ? *(const int64_t *)default_member(usual, s) : (int64_t)s->default_value;
    } else if (s->kind == WK__OPTION_BOOL && usual) {
        bool *flag = at;
        *flag = *flag || *(const bool *)default_member(usual, s);
    }
}

static bool check_float_option(wk_site site, const char *op, const wk__optim_option *s, double value)
{
    if (value >= s->min && value < s->max_exclusive) return true;
    wk__text text = {0};
    wk__text_format(&text, "%s: .%s = ", op, s->name);
    wk__text_double(&text, value, 'g', 6);
    wk__text_add(&text, s->max_exclusive < INFINITY ? " is not in [0, 1)"
                        : s->min > -INFINITY        ? " is invalid; it must be at least 0"
                                                    : " is not a number");
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return false;
}

static bool check_int_option(wk_site site, const char *op, const wk__optim_option *s, int64_t value)
{
    if (value >= 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s = %lld is invalid; it must be at least 1, or 0 for the default", op,
                  s->name, (long long)value);
    return false;
}

static bool check_option(wk_site site, const char *op, const wk__optim_option *s, void *own)
{
    const void *at = member(own, s);
    if (s->kind == WK__OPTION_FLOAT) return check_float_option(site, op, s, *(const double *)at);
    return s->kind != WK__OPTION_INT || check_int_option(site, op, s, *(const int64_t *)at);
}

bool wk__optim_check_options(wk_site site, const char *op, const wk__optim_algorithm *rule, void *own)
{
    for (size_t k = 0; k < rule->option_count; k++)
        if (!check_option(site, op, &rule->option[k], own)) return false;
    return !rule->validate_options || rule->validate_options(site, op, own);
}

static bool complete(wk_site site, const char *op, const wk__optim_algorithm *rule, void *own, const void *usual)
{
    for (size_t k = 0; k < rule->option_count; k++) apply_default(&rule->option[k], own, usual);
    return wk__optim_check_options(site, op, rule, own);
}

static const size_t setting_bytes[] = {[WK__OPTION_FLOAT] = sizeof(double),
                                       [WK__OPTION_INT] = sizeof(int64_t),
                                       [WK__OPTION_BOOL] = sizeof(bool),
                                       [WK__OPTION_STRING] = sizeof(const char *)};

/* Checks that `reserved`, after the last member, is 0. Anything else means that the struct was not initialised. */
static bool check_reserved_zero(wk_site site, const char *op, const void *own, size_t end, size_t size)
{
    for (size_t at = end; at < size; at++) {
        if (((const char *)own)[at] == 0) continue;
        wk__error_set(site, WK_ERR_UNSUPPORTED,
                      "%s: .reserved of the options is not 0, which library version %s does not support; initialise "
                      "with {.size = sizeof(options)}",
                      op, wk_version());
        return false;
    }
    return true;
}

static size_t end_of_settings(const wk__optim_algorithm *rule)
{
    size_t end = 0;
    for (size_t k = 0; k < rule->option_count; k++) {
        const size_t behind = rule->option[k].offset + setting_bytes[rule->option[k].kind];
        end = behind > end ? behind : end;
    }
    return end;
}

bool wk__optim_options(wk_site site, const wk__optim_algorithm *rule, const void *given, void *own)
{
    return wk__options_read(site, rule->name, given, own, rule->size) &&
           check_reserved_zero(site, rule->name, own, end_of_settings(rule), rule->size) &&
           complete(site, rule->name, rule, own, NULL);
}

/* ---- options of groups ------------------------------------------------------------------------------------------- */

/* Members of wk_optim_group_options. */
#define NUMBER(unused, member) {#member, offsetof(wk_optim_group_options, member), WK__OPTION_FLOAT},
#define FLAG(member)           {#member, offsetof(wk_optim_group_options, member), WK__OPTION_BOOL},
static const struct group_option {
    const char *name;
    size_t at;
    wk__optim_option_type kind;
} group_options[] = {wk_optim_group_options_numbers_(NUMBER, ) /* listed by the macro of the header */
                     FLAG(nesterov) FLAG(amsgrad) FLAG(centered) FLAG(decoupled_weight_decay) FLAG(maximize)};
#undef NUMBER
#undef FLAG

static bool is_given(const struct group_option *option, const void *at)
{
    return option->kind == WK__OPTION_BOOL ? *(const bool *)at : *(const double *)at != 0;
}

/* Appends ".lr, .eps and .weight_decay", the option names. */
static void list_settings(wk__text *text, const wk__optim_algorithm *rule)
{
    for (size_t k = 0; k < rule->option_count; k++)
        wk__text_format(text, "%s.%s",
                        k == 0                        ? ""
                        : k + 1 == rule->option_count ? " and "
                                                      : ", ",
                        rule->option[k].name);
}

/* Copies one option of a group if it is set. An option that the algorithm does not have is an error. */
static bool set_group_option(wk_site site, const wk__optim_algorithm *rule, const struct group_option *option,
                             const void *at, void *own)
{
    if (!is_given(option, at)) return true;
    for (size_t k = 0; k < rule->option_count; k++) {
        if (strcmp(rule->option[k].name, option->name) != 0) continue;
        memcpy(member(own, &rule->option[k]), at, option->kind == WK__OPTION_BOOL ? sizeof(bool) : sizeof(double));
        return true;
    }
    wk__text text = {0};
    wk__text_format(&text, "optim_add_group: unknown option .%s for %s; available: ", option->name,
                    wk__optim_algorithm_name(rule));
    list_settings(&text, rule);
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return false;
}

bool wk__optim_group_options(wk_site site, const wk__optim_algorithm *rule, const wk_optim_group_options *given,
                             const void *usual, void *own)
{
    wk_optim_group_options read;
    if (!wk__options(site, "optim_add_group", given, &read) ||
        !check_reserved_zero(site, "optim_add_group", &read, offsetof(wk_optim_group_options, reserved), sizeof read))
        return false;
    memset(own, 0, rule->size);
    for (size_t k = 0; k < sizeof group_options / sizeof *group_options; k++)
        if (!set_group_option(site, rule, &group_options[k], (const char *)&read + group_options[k].at, own))
            return false;
    return complete(site, "optim_add_group", rule, own, usual);
}
