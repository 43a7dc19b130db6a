// The order of vectors: element by element, and then the shorter one first, as arrays of
// PostgreSQL.
#include <postgres.h>

#include "postgres/half.h"
#include "postgres/vector.h"

static int compare_elements(VectorHeader* left, VectorHeader* right, int count,
                            const VectorKind* kind) {
  const bool floats = kind == &kVectorKind;
  for (int i = 0; i < count; i++) {
    const float a = floats ? vector_floats(left)[i] : float_of_finite_half(vector_halves(left)[i]);
    const float b =
        floats ? vector_floats(right)[i] : float_of_finite_half(vector_halves(right)[i]);
    if (a < b) return -1;
    if (a > b) return 1;
  }
  return 0;
}

static int compare(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* left = detoast_vector(PG_GETARG_DATUM(0), kind);
  VectorHeader* right = detoast_vector(PG_GETARG_DATUM(1), kind);
  int order = compare_elements(left, right, Min(left->dimension, right->dimension), kind);
  if (order == 0)
    order = (left->dimension > right->dimension) - (left->dimension < right->dimension);
  PG_FREE_IF_COPY(left, 0);
  PG_FREE_IF_COPY(right, 1);
  return order;
}

#define COMPARISON(name, relation)                                     \
  static Datum name(FunctionCallInfo fcinfo, const VectorKind* kind) { \
    PG_RETURN_BOOL(compare(fcinfo, kind) relation 0);                  \
  }                                                                    \
  FARVEC_OF_BOTH_KINDS(name, name)

COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(ge, >=)
COMPARISON(gt, >)

static Datum cmp(FunctionCallInfo fcinfo, const VectorKind* kind) {
  PG_RETURN_INT32(compare(fcinfo, kind));
}

FARVEC_OF_BOTH_KINDS(cmp, cmp)
