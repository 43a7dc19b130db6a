#include "postgres/kernels.h"

#include <math.h>

#include "postgres/half.h"

// Each loop adds to one sum. CMakeLists.txt allows the compiler to add in another order in this
// file, and so to take as many elements at a time as the processor has lanes.

// The loader takes the version of a function that this processor runs best.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EVERY_PROCESSOR __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define FOR_EVERY_PROCESSOR
#endif

static inline float of_float(float element) {
  return element;
}

// A function that sums `term` over a and b, the elements at the same places of two vectors.
#define SUM_OVER_PAIRS(name, Element, widen, term)                    \
  FOR_EVERY_PROCESSOR                                                 \
  double name(const Element* left, const Element* right, int count) { \
    float sum = 0;                                                    \
    for (int i = 0; i < count; i++) {                                 \
      const float a = widen(left[i]);                                 \
      const float b = widen(right[i]);                                \
      sum += (term);                                                  \
    }                                                                 \
    return (double)sum;                                               \
  }

#define SUM_FOR_COSINE(name, Element, widen)                                           \
  FOR_EVERY_PROCESSOR                                                                  \
  CosineSums name(const Element* left, const Element* right, int count) {              \
    float product = 0;                                                                 \
    float left_squares = 0;                                                            \
    float right_squares = 0;                                                           \
    for (int i = 0; i < count; i++) {                                                  \
      const float a = widen(left[i]);                                                  \
      const float b = widen(right[i]);                                                 \
      product += a * b;                                                                \
      left_squares += a * a;                                                           \
      right_squares += b * b;                                                          \
    }                                                                                  \
    return (CosineSums){(double)product, (double)left_squares, (double)right_squares}; \
  }

SUM_OVER_PAIRS(squared_l2_of_floats, float, of_float, (a - b) * (a - b))
SUM_OVER_PAIRS(squared_l2_of_halves, uint16, float_of_finite_half, (a - b) * (a - b))
SUM_OVER_PAIRS(product_of_floats, float, of_float, (a) * (b))
SUM_OVER_PAIRS(product_of_halves, uint16, float_of_finite_half, (a) * (b))
SUM_OVER_PAIRS(l1_of_floats, float, of_float, fabsf(a - b))
SUM_OVER_PAIRS(l1_of_halves, uint16, float_of_finite_half, fabsf(a - b))
SUM_FOR_COSINE(cosine_sums_of_floats, float, of_float)
SUM_FOR_COSINE(cosine_sums_of_halves, uint16, float_of_finite_half)
