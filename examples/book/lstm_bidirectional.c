/* SPDX-License-Identifier: Apache-2.0 */
/* Bidirectional LSTM: one direction sees the characters that the other predicts, so that the perplexity is low and the
 * text is useless. Dive into Deep Learning, Bidirectional Recurrent Neural Networks.
 *
 *     lstm_bidirectional [DEVICE [EPOCHS [FILE [SVG]]]] */
#include "characters.h"

int main(int argc, char **argv)
{
    WK_SCOPE;
    const reading r =
        read_words((reading){.name = "Bidirectional LSTM", .lr = 1, .epochs = 500, .states = 2}, argc, argv);
    const characters text = read_characters(&r);
    wk_module *layer = wk_nn_lstm(text.count, 256, .num_layers = 2, .bidirectional = true);
    return train_characters(new_model(layer, 512, text.count), &text, &r);
}
