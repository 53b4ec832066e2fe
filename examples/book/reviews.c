/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews with labels, and predictions for sentences. */
#include "reviews.h"

enum { TRAINED = 3000, TESTED = 1000, NOUNS = 8, ADJECTIVES = 8, MOST_SENTENCES = 5, LONGEST = 48 };

static const char *const nouns[NOUNS] = {"film", "plot", "music", "cast", "ending", "dialogue", "story", "scenery"};
static const char *const adjectives[2][ADJECTIVES] = {
    {"bad", "boring", "dull", "awful", "weak", "poor", "silly", "ugly"},
    {"good", "great", "clever", "lovely", "strong", "fine", "superb", "moving"},
};
static const char *const degrees[] = {"", "very ", "really ", "quite "};

/* Appends a review to *at and returns its label. room: bytes for each sentence. */
static int64_t write_review(uint32_t *state, char **at, size_t room)
{
    const int sentences = 3 + 2 * choose(state, 2); /* an odd number, so that there is a majority */
    int favourable = 0;
    for (int k = 0; k < sentences; k++) {
        const int positive = choose(state, 2), negated = choose(state, 2), noun = choose(state, NOUNS);
        const int degree = choose(state, 4), adjective = choose(state, ADJECTIVES);
        *at += snprintf(*at, room, "the %s was %s%s%s . ", nouns[noun], negated ? "not " : "", degrees[degree],
                        adjectives[positive][adjective]);
        favourable += positive != negated;
    }
    *at += snprintf(*at, room, "\n");
    return favourable > sentences / 2;
}

texts new_reviews(void)
{
    static char lines[(TRAINED + TESTED) * MOST_SENTENCES * LONGEST];
    static int64_t labels[TRAINED + TESTED];
    char *at = lines;
    uint32_t state = 1;
    for (int k = 0; k < TRAINED + TESTED; k++) labels[k] = write_review(&state, &at, LONGEST);
    texts t = {.words = wk_text_words_of(lines, .reserved_tokens = "<pad>"), .trained = TRAINED};
    t.count = wk_text_vocabulary(t.words);
    t.x = wk_text_encode_lines(t.words, lines, .length = WORDS);
    t.y = wk_from(labels, (TRAINED + TESTED));
    return t;
}

int predict_reviews(wk_module *net, const texts *reviews, const run *r)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module_train(net, false);
    const char *const sentences[] = {"the film was great .", "the film was not great .", "the film was not very bad ."};
    for (int k = 0; k < 3; k++) {
        wk_tensor *x = wk_text_pad((wk_text_encode(reviews->words, sentences[k])), .value = PAD, .length = WORDS);
        const int64_t label = wk_item_i64(wk_argmax(wk_forward(net, wk_to(x, r->device)), 1));
        printf("%s: %s\n", sentences[k], label ? "favourable" : "unfavourable");
    }
    return wk_report_error(stderr);
}
