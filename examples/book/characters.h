/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the recurrent networks of this folder: the command line, the text, and the loop that trains a model of its
 * characters. */
#ifndef BOOK_CHARACTERS_H
#define BOOK_CHARACTERS_H

#include <wick.h>

enum { MOST_STATES = 2 };

/* How a model is trained. The command line may change the device, the epochs, the text and the file for the curve. */
typedef struct reading {
    const char *name; /* of the network, "GRU" */
    double lr;        /* learning rate of stochastic gradient descent; the norm of gradients is clipped at 1 */
    int epochs;
    int states;  /* tensors of a state: 2 for an LSTM, else 1 */
    bool random; /* windows of the text in random order, each from a state of 0; default: in order, with the state that
                  * the window before has left */
    wk_device device;
    const char *file; /* default data/text/tinyshakespeare.txt of the repository; the book reads The Time Machine */
    const char *svg;
} reading;

/* A text as the book prepares it: the letters in lower case and spaces, of which the first 10,000 are read. */
typedef struct characters {
    wk_text *vocabulary;
    wk_tensor *ids;
    int64_t count; /* size of the vocabulary */
} characters;

/* Reads the command line: PROGRAM [DEVICE [EPOCHS [FILE [SVG]]]]; 0 epochs keep the usual number. Ends the program
 * after a message if a word is invalid. */
reading read_words(reading usual, int argc, char **argv);
characters read_characters(const reading *r);

/* Returns a model: the layer, whose input are characters as one-hot vectors, and a linear layer for the next one. Its
 * forward takes ids (batch, steps) and optionally a state, and returns scores (steps * batch, count) and the state. */
wk_module *new_model(wk_module *layer, int64_t hidden, int64_t count);

/* Trains a model, prints its perplexity from time to time, and at the end the speed and 50 characters after "the". A
 * model takes and returns ids, scores and states as one of new_model. Returns the exit status of the program. */
int train_characters(wk_module *model, const characters *text, const reading *r);

#endif
