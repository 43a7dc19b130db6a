#include <postgres.h>

#include "postgres/kernels.h"

#include <math.h>

#include "postgres/half.h"

// Each lane has a sum of its own, so a compiler may add to all of them with one instruction.
#define LANES 16
// Halves are widened in pieces of this many, which lie in the first-level cache.
#define PIECE 256

// The loader takes the version of a function that this processor runs best.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EVERY_PROCESSOR __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define FOR_EVERY_PROCESSOR
#endif

static double sum_of_lanes(const float* lanes) {
  double sum = 0;
  for (int i = 0; i < LANES; i++) sum += (double)lanes[i];
  return sum;
}

// A function that sums `term` over a and b, two elements at the same place.
#define SUM_OVER_PAIRS(name, term)                                              \
  FOR_EVERY_PROCESSOR                                                           \
  double name##_of_floats(const float* left, const float* right, int count) {   \
    float lanes[LANES] = {0};                                                   \
    int i = 0;                                                                  \
    for (; i + LANES <= count; i += LANES) {                                    \
      for (int lane = 0; lane < LANES; lane++) {                                \
        const float a = left[i + lane];                                         \
        const float b = right[i + lane];                                        \
        lanes[lane] += (term);                                                  \
      }                                                                         \
    }                                                                           \
    for (int lane = 0; i < count; i++, lane++) {                                \
      const float a = left[i];                                                  \
      const float b = right[i];                                                 \
      lanes[lane] += (term);                                                    \
    }                                                                           \
    return sum_of_lanes(lanes);                                                 \
  }                                                                             \
  double name##_of_halves(const uint16* left, const uint16* right, int count) { \
    float a[PIECE];                                                             \
    float b[PIECE];                                                             \
    double sum = 0;                                                             \
    for (int start = 0; start < count; start += PIECE) {                        \
      const int piece = Min(PIECE, count - start);                              \
      widen(left + start, a, piece);                                            \
      widen(right + start, b, piece);                                           \
      sum += name##_of_floats(a, b, piece);                                     \
    }                                                                           \
    return sum;                                                                 \
  }

FOR_EVERY_PROCESSOR
static void widen(const uint16* halves, float* floats, int count) {
  for (int i = 0; i < count; i++) floats[i] = float_of_finite_half(halves[i]);
}

SUM_OVER_PAIRS(squared_l2, (a - b) * (a - b))
SUM_OVER_PAIRS(product, a* b)
SUM_OVER_PAIRS(l1, fabsf(a - b))

FOR_EVERY_PROCESSOR
CosineSums cosine_sums_of_floats(const float* left, const float* right, int count) {
  float products[LANES] = {0};
  float lefts[LANES] = {0};
  float rights[LANES] = {0};
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (int lane = 0; lane < LANES; lane++) {
      products[lane] += left[i + lane] * right[i + lane];
      lefts[lane] += left[i + lane] * left[i + lane];
      rights[lane] += right[i + lane] * right[i + lane];
    }
  }
  for (int lane = 0; i < count; i++, lane++) {
    products[lane] += left[i] * right[i];
    lefts[lane] += left[i] * left[i];
    rights[lane] += right[i] * right[i];
  }
  return (CosineSums){sum_of_lanes(products), sum_of_lanes(lefts), sum_of_lanes(rights)};
}

CosineSums cosine_sums_of_halves(const uint16* left, const uint16* right, int count) {
  float a[PIECE];
  float b[PIECE];
  CosineSums sums = {0, 0, 0};
  for (int start = 0; start < count; start += PIECE) {
    const int piece = Min(PIECE, count - start);
    widen(left + start, a, piece);
    widen(right + start, b, piece);
    const CosineSums more = cosine_sums_of_floats(a, b, piece);
    sums.product += more.product;
    sums.left_squares += more.left_squares;
    sums.right_squares += more.right_squares;
  }
  return sums;
}
