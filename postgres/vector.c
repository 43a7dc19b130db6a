#include <postgres.h>

#include "postgres/vector.h"

#include <common/shortest_dec.h>
#include <math.h>

#include "postgres/half.h"

const VectorKind kVectorKind = {"vector", sizeof(float)};
const VectorKind kHalfvecKind = {"halfvec", sizeof(uint16)};

static Size vector_bytes(int dimension, const VectorKind* kind) {
  return sizeof(VectorHeader) + (Size)dimension * (Size)kind->element_bytes;
}

VectorHeader* detoast_vector(Datum datum, const VectorKind* kind) {
  VectorHeader* value = (VectorHeader*)PG_DETOAST_DATUM(datum);
  if (VARSIZE(value) < sizeof(VectorHeader) || value->dimension < 1 ||
      VARSIZE(value) != vector_bytes(value->dimension, kind)) {
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("a stored %s has %u bytes, which is none of its lengths", kind->name,
                           (unsigned)VARSIZE(value)),
                    errhint("The table or the function that it comes from is damaged.")));
  }
  return value;
}

VectorHeader* make_vector(int dimension, const VectorKind* kind) {
  const Size bytes = vector_bytes(dimension, kind);
  VectorHeader* value = palloc0(bytes);
  SET_VARSIZE(value, bytes);
  value->dimension = (int16)dimension;
  return value;
}

const float* widened(VectorHeader* value, const VectorKind* kind) {
  if (kind == &kVectorKind) return vector_floats(value);
  float* floats = palloc(sizeof(float) * (Size)value->dimension);
  const uint16* halves = vector_halves(value);
  for (int i = 0; i < value->dimension; i++) floats[i] = float_of_finite_half(halves[i]);
  return floats;
}

static uint16 checked_half(float value) {
  const uint16 half = half_of_float(value);
  if (!half_is_finite(half) && isfinite(value)) {
    char text[FLOAT_SHORTEST_DECIMAL_LEN];
    float_to_shortest_decimal_buf(value, text);
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("%s is out of the range of halfvec", text),
                    errhint("The greatest half float is 65504.")));
  }
  return half;
}

void store_elements(VectorHeader* to, const float* from, const VectorKind* kind) {
  if (kind == &kVectorKind) {
    memcpy(vector_floats(to), from, sizeof(float) * (Size)to->dimension);
    return;
  }
  uint16* halves = vector_halves(to);
  for (int i = 0; i < to->dimension; i++) halves[i] = checked_half(from[i]);
}

void check_dimension(int64 dimension, const VectorKind* kind) {
  if (dimension < 1) {
    ereport(ERROR,
            (errcode(ERRCODE_DATA_EXCEPTION), errmsg("a %s has at least 1 dimension", kind->name)));
  }
  if (dimension > FARVEC_MAX_DIMENSION) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a %s has at most %d dimensions", kind->name, FARVEC_MAX_DIMENSION)));
  }
}

void check_modifier(int32 modifier, int dimension) {
  if (modifier != -1 && modifier != dimension) {
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                    errmsg("%d dimensions came where %d are expected", dimension, modifier)));
  }
}

void check_finite_element(float element, int place, const VectorKind* kind) {
  if (isfinite(element)) return;
  ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                  errmsg("element %d of a %s is %s", place, kind->name,
                         isnan(element) ? "NaN" : "infinite"),
                  errhint("Elements are finite numbers.")));
}

void check_finite(const float* elements, int count, const VectorKind* kind) {
  for (int i = 0; i < count; i++) check_finite_element(elements[i], i + 1, kind);
}

void check_same_dimension(const VectorHeader* left, const VectorHeader* right,
                          const VectorKind* kind) {
  if (left->dimension != right->dimension) {
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                    errmsg("a %s of %d dimensions meets one of %d", kind->name, left->dimension,
                           right->dimension)));
  }
}
