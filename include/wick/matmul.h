/* wick/matmul.h: products of matrices and vectors. */
#ifndef WICK_MATMUL_H
#define WICK_MATMUL_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
