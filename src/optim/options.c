/* SPDX-License-Identifier: Apache-2.0 */
/* Options of optimisers, read by the table of their rule. */
#include "optim.h"
#include <string.h>

static void *member(void *options, const wk__setting *s)
{
    return (char *)options + s->at;
}
static const void *usual_member(const void *usual, const wk__setting *s)
{
    return (const char *)usual + s->at;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What is not given comes from `usual`, or is the default. */
static void fill_in(const wk__setting *s, void *own, const void *usual)
{
    void *at = member(own, s);
    if (s->kind == WK__SETTING_NUMBER) {
        double *number = at;
        *number = wk__option(*number, usual ? *(const double *)usual_member(usual, s) : s->usual);
    } else if (s->kind == WK__SETTING_WHOLE) {
        int64_t *number = at;
        if (*number == 0) *number = usual ? *(const int64_t *)usual_member(usual, s) : (int64_t)s->usual;
    } else if (s->kind == WK__SETTING_FLAG && usual) {
        bool *flag = at;
        *flag = *flag || *(const bool *)usual_member(usual, s);
    }
}

static bool number_fits(wk_site site, const char *op, const wk__setting *s, double value)
{
    if (value >= s->least && value < s->below) return true;
    wk__text text = {0};
    wk__text_format(&text, "%s: .%s = ", op, s->name);
    wk__text_double(&text, value, 'g', 6);
    wk__text_add(&text, s->below < INFINITY    ? " is not in [0, 1)"
                        : s->least > -INFINITY ? " is not a number of 0 or more"
                                               : " is not a number");
    wk__error_take(site, WK_ERR_ARGUMENT, &text);
    return false;
}

static bool whole_fits(wk_site site, const char *op, const wk__setting *s, int64_t value)
{
    if (value >= 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s = %lld is not a number of 1 or more, nor 0 for the default", op,
                  s->name, (long long)value);
    return false;
}

static bool fits(wk_site site, const char *op, const wk__setting *s, void *own)
{
    const void *at = member(own, s);
    if (s->kind == WK__SETTING_NUMBER) return number_fits(site, op, s, *(const double *)at);
    return s->kind != WK__SETTING_WHOLE || whole_fits(site, op, s, *(const int64_t *)at);
}

bool wk__optim_options_fit(wk_site site, const char *op, const wk__rule *rule, void *own)
{
    for (size_t k = 0; k < rule->settings; k++)
        if (!fits(site, op, &rule->setting[k], own)) return false;
    return !rule->complete || rule->complete(site, op, own);
}

static bool complete(wk_site site, const char *op, const wk__rule *rule, void *own, const void *usual)
{
    for (size_t k = 0; k < rule->settings; k++) fill_in(&rule->setting[k], own, usual);
    return wk__optim_options_fit(site, op, rule, own);
}

static const size_t setting_bytes[] = {[WK__SETTING_NUMBER] = sizeof(double),
                                       [WK__SETTING_WHOLE] = sizeof(int64_t),
                                       [WK__SETTING_FLAG] = sizeof(bool),
                                       [WK__SETTING_TEXT] = sizeof(const char *)};

/* Behind the last member, in `reserved`, is 0: anything else is of a struct that nobody has set to 0. */
static bool nothing_reserved(wk_site site, const char *op, const void *own, size_t end, size_t size)
{
    for (size_t at = end; at < size; at++) {
        if (((const char *)own)[at] == 0) continue;
        wk__error_set(site, WK_ERR_UNSUPPORTED,
                      "%s: .reserved of the options is not 0, and version %s of the library knows nothing there; begin "
                      "with {.size = sizeof(options)}, which sets all else to 0",
                      op, wk_version());
        return false;
    }
    return true;
}

static size_t end_of_settings(const wk__rule *rule)
{
    size_t end = 0;
    for (size_t k = 0; k < rule->settings; k++) {
        const size_t behind = rule->setting[k].at + setting_bytes[rule->setting[k].kind];
        end = behind > end ? behind : end;
    }
    return end;
}

bool wk__optim_options(wk_site site, const wk__rule *rule, const void *given, void *own)
{
    return wk__options_read(site, rule->name, given, own, rule->size) &&
           nothing_reserved(site, rule->name, own, end_of_settings(rule), rule->size) &&
           complete(site, rule->name, rule, own, NULL);
}

/* ---- options of groups ------------------------------------------------------------------------------------------- */

/* The members of wk_optim_group_options. */
#define NUMBER(unused, member) {#member, offsetof(wk_optim_group_options, member), WK__SETTING_NUMBER},
#define FLAG(member)           {#member, offsetof(wk_optim_group_options, member), WK__SETTING_FLAG},
static const struct group_option {
    const char *name;
    size_t at;
    wk__setting_kind kind;
} group_options[] = {wk_optim_group_options_numbers_(NUMBER, ) /* as the macros of the header list them */
                     FLAG(nesterov) FLAG(amsgrad) FLAG(maximize)};
#undef NUMBER
#undef FLAG

static bool is_given(const struct group_option *option, const void *at)
{
    return option->kind == WK__SETTING_FLAG ? *(const bool *)at : *(const double *)at != 0;
}

/* ".lr, .eps and .weight_decay" */
static void list_settings(wk__text *text, const wk__rule *rule)
{
    for (size_t k = 0; k < rule->settings; k++)
        wk__text_format(text, "%s.%s", k == 0 ? "" : k + 1 == rule->settings ? " and " : ", ", rule->setting[k].name);
}

/* Copies what is given of one option. An option of another kind of optimiser would do nothing, so it is refused. */
static bool take_over(wk_site site, const wk__rule *rule, const struct group_option *option, const void *at, void *own)
{
    if (!is_given(option, at)) return true;
    for (size_t k = 0; k < rule->settings; k++) {
        if (strcmp(rule->setting[k].name, option->name) != 0) continue;
        memcpy(member(own, &rule->setting[k]), at, option->kind == WK__SETTING_FLAG ? sizeof(bool) : sizeof(double));
        return true;
    }
    wk__text text = {0};
    wk__text_format(&text, "optim_add_group: .%s is no option of %s, which has ", option->name, wk__rule_kind(rule));
    list_settings(&text, rule);
    wk__error_take(site, WK_ERR_ARGUMENT, &text);
    return false;
}

bool wk__optim_group_options(wk_site site, const wk__rule *rule, const wk_optim_group_options *given, const void *usual,
                             void *own)
{
    wk_optim_group_options read;
    if (!wk__options(site, "optim_add_group", given, &read) ||
        !nothing_reserved(site, "optim_add_group", &read, offsetof(wk_optim_group_options, reserved), sizeof read))
        return false;
    memset(own, 0, rule->size);
    for (size_t k = 0; k < sizeof group_options / sizeof *group_options; k++)
        if (!take_over(site, rule, &group_options[k], (const char *)&read + group_options[k].at, own)) return false;
    return complete(site, "optim_add_group", rule, own, usual);
}
