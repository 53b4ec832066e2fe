/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs of this folder: the command line, and the loop that trains a network on digits. */
#ifndef BOOK_TRAIN_H
#define BOOK_TRAIN_H

#include <wick.h>

/* How a network is trained. The command line of the program may change all but the size of the images. */
typedef struct settings {
    const char *name; /* of the network, "LeNet" */
    int64_t size;     /* the digits, 28 x 28, are resized to size x size */
    int64_t batch;    /* digits per step */
    double lr;        /* learning rate of stochastic gradient descent */
    int epochs;
    int64_t train;    /* digits that are trained on, at most 9,000 of 10,000; tested are the last 1,000, or as many */
    wk_device device; /* default: the first GPU, else the CPU */
    const char *svg;  /* file for the curves; default none */
} settings;

/* Reads the command line: PROGRAM [DEVICE [EPOCHS [DIGITS [SVG]]]]; 0 for a number keeps the usual one. Ends the
 * program after a message if a word is invalid. */
settings read_arguments(settings usual, int argc, char **argv);

/* Sets the weights of convolutions and linear layers to Xavier's initial values. Lazy layers must have had an input. */
void init_weights(wk_module *net);

/* Prints the shape of the output of each child of a sequential network for one image of size x size. */
void show_shapes(wk_module *net, int64_t size);

/* Trains the network and prints, for each epoch, the loss and both accuracies, and at the end also the speed. Returns
 * the exit status of the program. */
int train(wk_module *net, const settings *s);

#endif
