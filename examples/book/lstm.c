/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM: a recurrent layer with input, forget and output gates. Dive into Deep Learning, Long Short-Term Memory (LSTM).
 *
 *     lstm [DEVICE [EPOCHS [FILE [SVG]]]] */
#include "characters.h"

int main(int argc, char **argv)
{
    WK_SCOPE;
    const reading r = read_words((reading){.name = "LSTM", .lr = 1, .epochs = 500, .states = 2}, argc, argv);
    const characters text = read_characters(&r);
    wk_module *layer = wk_nn_lstm(text.count, 256);
    return train_characters(new_model(layer, 256, text.count), &text, &r);
}
