/* SPDX-License-Identifier: Apache-2.0 */
/* Does what a file of a flush says make sense? */
#ifndef WICK_ENGINE_FLUSH_CHECK_H
#define WICK_ENGINE_FLUSH_CHECK_H

#include "flush_file.h"

/* Every value is made once and before it is read; nothing is read or written outside its value, by whatever
 * numbers; each record is one that an op could have made, as far as running it depends on that. WK_ERR_FORMAT
 * and which record is wrong. */
wk_code wk__flush_validate(const wk__flush_data *flush, wk__io_error *error);

#endif
