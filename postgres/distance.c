// The distances of vectors, and their lengths.
#include <postgres.h>

#include <math.h>
#include <utils/float.h>

#include "postgres/kernels.h"
#include "postgres/vector.h"

// Two values of one type and one dimension.
typedef struct Pair {
  VectorHeader* left;
  VectorHeader* right;
  int dimension;
} Pair;

static Pair pair_of(FunctionCallInfo fcinfo, const VectorKind* kind) {
  Pair pair = {detoast_vector(PG_GETARG_DATUM(0), kind), detoast_vector(PG_GETARG_DATUM(1), kind),
               0};
  check_same_dimension(pair.left, pair.right, kind);
  pair.dimension = pair.left->dimension;
  return pair;
}

// Detoasted copies are freed: a sort over a table calls these for every row.
static void release(FunctionCallInfo fcinfo, const Pair* pair) {
  PG_FREE_IF_COPY(pair->left, 0);
  PG_FREE_IF_COPY(pair->right, 1);
}

#define SUM_OF(name)                                                                               \
  static double name(FunctionCallInfo fcinfo, const VectorKind* kind) {                            \
    const Pair pair = pair_of(fcinfo, kind);                                                       \
    const double sum = kind == &kVectorKind                                                        \
                           ? name##_of_floats(vector_floats(pair.left), vector_floats(pair.right), \
                                              pair.dimension)                                      \
                           : name##_of_halves(vector_halves(pair.left), vector_halves(pair.right), \
                                              pair.dimension);                                     \
    release(fcinfo, &pair);                                                                        \
    return sum;                                                                                    \
  }

SUM_OF(squared_l2)
SUM_OF(product)
SUM_OF(l1)

static Datum l2_distance(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_FLOAT8(sqrt(squared_l2(fcinfo, kind)));
}

static Datum l2_squared_distance(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_FLOAT8(squared_l2(fcinfo, kind));
}

static Datum inner_product(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_FLOAT8(product(fcinfo, kind));
}

static Datum negative_inner_product(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_FLOAT8(-product(fcinfo, kind));
}

static Datum l1_distance(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_FLOAT8(l1(fcinfo, kind));
}

// NaN where one of the two has the length zero: such rows are sorted last.
static Datum cosine_distance(FunctionCallInfo fcinfo, const VectorKind* kind) {
  const Pair pair = pair_of(fcinfo, kind);
  const CosineSums sums = kind == &kVectorKind
                              ? cosine_sums_of_floats(vector_floats(pair.left),
                                                      vector_floats(pair.right), pair.dimension)
                              : cosine_sums_of_halves(vector_halves(pair.left),
                                                      vector_halves(pair.right), pair.dimension);
  release(fcinfo, &pair);
  double similarity = sums.product / sqrt(sums.left_squares * sums.right_squares);
  // Rounding may go beyond the ends. A comparison with NaN is false and leaves it.
  if (similarity > 1) similarity = 1;
  if (similarity < -1) similarity = -1;
  PG_RETURN_FLOAT8(1 - similarity);
}

static double length_of(const float* elements, int dimension) {
  double squares = 0;
  for (int i = 0; i < dimension; i++) squares += (double)elements[i] * (double)elements[i];
  return sqrt(squares);
}

static Datum norm(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  PG_RETURN_FLOAT8(length_of(widened(value, kind), value->dimension));
}

// A vector of zeros stays one.
static Datum l2_normalize(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  const float* elements = widened(value, kind);
  const double length = length_of(elements, value->dimension);
  VectorHeader* answer = make_vector(value->dimension, kind);
  if (length > 0) {
    float* unit = palloc(sizeof(float) * (Size)value->dimension);
    for (int i = 0; i < value->dimension; i++) unit[i] = (float)((double)elements[i] / length);
    store_elements(answer, unit, kind);
  }
  PG_RETURN_POINTER(answer);
}

static Datum dims(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_INT32(detoast_vector(PG_GETARG_DATUM(0), kind)->dimension);
}

FARVEC_OF_BOTH_KINDS(l2_distance, l2_distance)
FARVEC_OF_BOTH_KINDS(l2_squared_distance, l2_squared_distance)
FARVEC_OF_BOTH_KINDS(inner_product, inner_product)
FARVEC_OF_BOTH_KINDS(negative_inner_product, negative_inner_product)
FARVEC_OF_BOTH_KINDS(l1_distance, l1_distance)
FARVEC_OF_BOTH_KINDS(cosine_distance, cosine_distance)
FARVEC_OF_BOTH_KINDS(norm, norm)
FARVEC_OF_BOTH_KINDS(l2_normalize, l2_normalize)
FARVEC_OF_BOTH_KINDS(dims, dims)
