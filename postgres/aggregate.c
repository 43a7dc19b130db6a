// avg() of vectors. Its state is an array of float8: how many there were, then the sum of each
// element. sum() is add() over and over.
#include <postgres.h>

#include <catalog/pg_type.h>
#include <math.h>
#include <utils/array.h>
#include <utils/float.h>

#include "postgres/vector.h"

static float8* state_values(ArrayType* state) {
  return (float8*)ARR_DATA_PTR(state);
}
static int state_dimension(ArrayType* state) {
  return ARR_DIMS(state)[0] - 1;
}

// These functions can be called by anyone, with any array.
static ArrayType* checked_state(ArrayType* state) {
  if (ARR_NDIM(state) != 1 || ARR_DIMS(state)[0] < 1 || ARR_HASNULL(state) ||
      ARR_ELEMTYPE(state) != FLOAT8OID) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("this array is no state of avg()"), errhint("Call avg() itself.")));
  }
  return state;
}

// A state of no values. Minus zero is what changes no number that is added to it, not even minus
// zero.
static ArrayType* make_state(int dimension) {
  Datum* zeros = palloc(sizeof(Datum) * (Size)(dimension + 1));
  zeros[0] = Float8GetDatum(0);
  for (int i = 1; i <= dimension; i++) zeros[i] = Float8GetDatum(-0.0);
  ArrayType* state = construct_array(zeros, dimension + 1, FLOAT8OID, sizeof(float8),
                                     FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
  pfree(zeros);
  return state;
}

static void add_to(float8* sum, float8 value) {
  *sum += value;
  if (isinf(*sum)) float_overflow_error();
}

// The state that may be changed in place: the aggregate's own once it has a dimension, else a new
// one.
static ArrayType* writable_state(FunctionCallInfo fcinfo, int dimension) {
  ArrayType* state = checked_state(PG_GETARG_ARRAYTYPE_P(0));
  const int held = state_dimension(state);
  MemoryContext context;
  const bool in_aggregate = AggCheckCallContext(fcinfo, &context) != 0;
  if (!in_aggregate) context = CurrentMemoryContext;
  if (held != 0) check_modifier(held, dimension);
  if (in_aggregate && held != 0) return state;
  MemoryContext before = MemoryContextSwitchTo(context);
  ArrayType* copy = make_state(dimension);
  MemoryContextSwitchTo(before);
  memcpy(state_values(copy), state_values(state), sizeof(float8) * (Size)(held + 1));
  return copy;
}

static Datum accum(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(1), kind);
  ArrayType* state = writable_state(fcinfo, value->dimension);
  const float* elements = widened(value, kind);
  float8* values = state_values(state);
  values[0] += 1;
  for (int i = 0; i < value->dimension; i++) add_to(&values[i + 1], (float8)elements[i]);
  PG_RETURN_ARRAYTYPE_P(state);
}

static Datum combine_states(FunctionCallInfo fcinfo, const VectorKind* kind) {
  ArrayType* left = checked_state(PG_GETARG_ARRAYTYPE_P(0));
  ArrayType* right = checked_state(PG_GETARG_ARRAYTYPE_P(1));
  if (state_dimension(right) == 0) PG_RETURN_ARRAYTYPE_P(left);
  check_dimension(state_dimension(right), kind);
  left = writable_state(fcinfo, state_dimension(right));
  const float8* from = state_values(right);
  float8* to = state_values(left);
  to[0] += from[0];
  for (int i = 1; i <= state_dimension(right); i++) add_to(&to[i], from[i]);
  PG_RETURN_ARRAYTYPE_P(left);
}

static Datum avg(FunctionCallInfo fcinfo, const VectorKind* kind) {
  ArrayType* state = checked_state(PG_GETARG_ARRAYTYPE_P(0));
  const float8* values = state_values(state);
  if (values[0] == 0) PG_RETURN_NULL();
  const int dimension = state_dimension(state);
  check_dimension(dimension, kind);
  float* means = palloc(sizeof(float) * (Size)dimension);
  for (int i = 0; i < dimension; i++) means[i] = (float)(values[i + 1] / values[0]);
  VectorHeader* answer = make_vector(dimension, kind);
  store_elements(answer, means, kind);
  check_finite(means, dimension, kind);
  PG_RETURN_POINTER(answer);
}

FARVEC_OF_BOTH_KINDS(accum, accum)
FARVEC_OF_BOTH_KINDS(combine, combine_states)
FARVEC_OF_BOTH_KINDS(avg, avg)
