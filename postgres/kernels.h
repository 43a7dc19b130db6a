// This header computes sums over floats, and over half floats that are widened on the way.
#ifndef FARVEC_POSTGRES_KERNELS_H
#define FARVEC_POSTGRES_KERNELS_H

#include <postgres.h>

typedef struct CosineSums {
  double product;        // left by right
  double left_squares;   // left by itself
  double right_squares;  // right by itself
} CosineSums;

// Elements of both are floats.
double squared_l2_of_floats(const float* left, const float* right, int count);
double product_of_floats(const float* left, const float* right, int count);
double l1_of_floats(const float* left, const float* right, int count);
CosineSums cosine_sums_of_floats(const float* left, const float* right, int count);

// Elements of both are finite halves.
double squared_l2_of_halves(const uint16* left, const uint16* right, int count);
double product_of_halves(const uint16* left, const uint16* right, int count);
double l1_of_halves(const uint16* left, const uint16* right, int count);
CosineSums cosine_sums_of_halves(const uint16* left, const uint16* right, int count);

#endif
