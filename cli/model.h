/* SPDX-License-Identifier: Apache-2.0 */
/* The networks for images of `wick train` and `wick predict`, and the metadata of their files:
 *
 *     wick.model     name of the network, "lenet"
 *     wick.size      height and width of its images, "28"
 *     wick.classes   names of the classes, separated by newlines */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli.h"

/* A network that classifies images. */
typedef struct cli_model {
    const char *name;
    const char *title;        /* "LeNet" */
    const char *first, *last; /* tensors whose sizes contain the numbers of channels and classes */
    double lr;                /* default learning rate of wick train, with Adam */
    bool imagenet;            /* its files without metadata may be networks for ImageNet */
    wk_module *(*create)(int64_t classes, int64_t channels);
} cli_model;

enum { CLI_IMAGE_SIZE = 28 }; /* of the images that wick train reads */

/* Returns the network of this name; NULL if it is unknown. */
const cli_model *cli_model_find(const char *name);
/* Returns the names of all networks for messages, "mnist, lenet, resnet18". */
const char *cli_model_names(void);
/* Returns the name nearest to a misspelt one; NULL if none is near. */
const char *cli_model_nearest(const char *word);

/* Names of classes. */
typedef struct cli_names {
    char *text;        /* all names, owned */
    const char **item; /* pointers into it, owned */
    int64_t count;
} cli_names;
/* Splits a text into lines; empty lines at the end are dropped. Returns false on allocation failure. */
bool cli_names_split(const char *text, cli_names *out);
/* Returns the lines as one text, which the caller frees; NULL on allocation failure. */
char *cli_names_join(const cli_names *names);
/* Reads a file of one name per line. Returns false after printing the reason to stderr. */
bool cli_names_read(const char *command, const char *path, cli_names *out);
void cli_names_free(cli_names *names);

/* ---- files of networks ------------------------------------------------------------------------------------------- */

/* Returns the value of a key in the metadata; NULL if the file has none. */
const char *cli_metadata_of(const wk_file_info *info, const char *key);
/* Returns the tensor of this name; NULL if the file has none. */
const wk_file_tensor *cli_tensor_of(const wk_file_info *info, const char *name);
/* Prints "wick COMMAND: " and the pending error without the line of this program and the name of the call, and clears
 * it. */
void cli_report_error(const char *command);

#endif
