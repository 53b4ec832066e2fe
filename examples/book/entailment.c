/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of sentences with labels, and predictions for pairs. */
#include "entailment.h"
#include <string.h>

enum { TRAINED = 6000, TESTED = 1000, LONGEST = 80, NOUNS = 8, ADJECTIVES = 4, ACTIONS = 6, PLACES = 4 };

static const char *const nouns[NOUNS][2] = {{"dog", "creature"},  {"cat", "creature"}, {"horse", "creature"},
                                            {"bird", "creature"}, {"woman", "person"}, {"man", "person"},
                                            {"girl", "person"},   {"boy", "person"}};
static const char *const adjectives[ADJECTIVES] = {"small", "young", "tall", "hungry"};
static const char *const actions[ACTIONS] = {"sleeping", "running", "eating", "jumping", "resting", "playing"};
static const char *const places[PLACES] = {"in the park", "on the street", "near the river", "behind the house"};

/* The parts of a sentence. adjective and place may be NULL. */
typedef struct sentence {
    const char *adjective, *noun, *is, *action, *place;
} sentence;

/* Writes a sentence and returns its length. */
static int write_sentence(char *out, const sentence *s)
{
    return snprintf(out, LONGEST, "a %s%s%s %s %s%s%s .\n", s->adjective ? s->adjective : "", s->adjective ? " " : "",
                    s->noun, s->is, s->action, s->place ? " " : "", s->place ? s->place : "");
}

/* Returns a random number in [0, n) that is not k or, if k is -1, not n - 1. */
static int other(uint32_t *state, int k, int n)
{
    return (k + 1 + choose(state, n - 1)) % n;
}

/* Appends a premise and a hypothesis to the two texts. Returns their relation. */
static int64_t write_pair(uint32_t *state, char **premise, char **hypothesis)
{
    const int noun = choose(state, NOUNS), action = choose(state, ACTIONS), adjective = choose(state, ADJECTIVES);
    const int place = choose(state, PLACES), relation = choose(state, RELATIONS), way = choose(state, 2);
    const sentence p = {.adjective = choose(state, 2) ? adjectives[adjective] : NULL,
                        .noun = nouns[noun][0],
                        .is = "is",
                        .action = actions[action],
                        .place = choose(state, 2) ? places[place] : NULL};
    sentence h = p;
    if (choose(state, 2)) h.noun = nouns[noun][1]; /* the more general noun: a dog is a creature */
    if (relation == ENTAILMENT) {
        h.adjective = way ? p.adjective : NULL;
        h.place = way ? NULL : p.place;
    } else if (relation == CONTRADICTION) {
        h.is = way ? "is not" : "is";
        if (!way) h.action = actions[other(state, action, ACTIONS)];
    } else { /* neutral: the premise does not contain this adjective or place */
        if (way)
            h.adjective = adjectives[other(state, p.adjective ? adjective : -1, ADJECTIVES)];
        else
            h.place = places[other(state, p.place ? place : -1, PLACES)];
    }
    *premise += write_sentence(*premise, &p);
    *hypothesis += write_sentence(*hypothesis, &h);
    return relation;
}

texts new_pairs(void)
{
    enum { PAIRS = TRAINED + TESTED };
    static char lines[2 * PAIRS * LONGEST], hypotheses[PAIRS * LONGEST];
    static int64_t labels[PAIRS];
    char *p = lines, *h = hypotheses;
    uint32_t state = 1;
    for (int k = 0; k < PAIRS; k++) labels[k] = write_pair(&state, &p, &h);
    memcpy(p, hypotheses, (size_t)(h - hypotheses) + 1); /* all premises, then all hypotheses */
    texts t = {.words = wk_text_words_of(lines, .reserved_tokens = "<pad> <cls> <sep> <mask>"), .trained = TRAINED};
    t.count = wk_text_vocabulary(t.words);
    wk_tensor *ids = wk_text_encode_lines(t.words, lines, .length = WORDS);
    t.x = wk_transpose(wk_reshape(ids, (2, PAIRS, WORDS)), 0, 1);
    t.y = wk_from(labels, (PAIRS));
    return t;
}

int predict_relations(wk_module *net, const texts *pairs, const run *r)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module_train(net, false);
    static const char *const names[RELATIONS] = {"entailment", "contradiction", "neutral"};
    const char *const sentences[][2] = {{"a young girl is running near the river .", "a person is running ."},
                                        {"a young girl is running near the river .", "a girl is not running ."},
                                        {"a girl is running near the river .", "a tall girl is running ."}};
    for (int k = 0; k < 3; k++) {
        wk_tensor *x =
            wk_text_pad((wk_text_encode(pairs->words, sentences[k][0]), wk_text_encode(pairs->words, sentences[k][1])),
                        .value = PAD, .length = WORDS);
        const int64_t label = wk_item_i64(wk_argmax(wk_forward(net, wk_to(wk_unsqueeze(x, 0), r->device)), 1));
        printf("%s %s: %s\n", sentences[k][0], sentences[k][1], wk_error() ? "" : names[label]);
    }
    return wk_report_error(stderr);
}
