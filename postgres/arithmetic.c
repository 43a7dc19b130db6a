// Vectors from vectors: element by element, one after the other, parts.
#include <postgres.h>

#include <math.h>
#include <utils/float.h>
#include <utils/varbit.h>

#include "postgres/half.h"
#include "postgres/vector.h"

// Ends with an error where a result is beyond the type's range.
static void check_overflow(const float* elements, int count, const VectorKind* kind) {
  for (int i = 0; i < count; i++) {
    if (isinf(elements[i])) float_overflow_error();
    if (kind == &kHalfvecKind && !half_is_finite(half_of_float(elements[i]))) {
      float_overflow_error();
    }
  }
}

// A product of numbers that are not zero is zero only by underflow.
static void check_underflow(const float* left, const float* right, const float* products, int count,
                            const VectorKind* kind) {
  for (int i = 0; i < count; i++) {
    const bool is_zero =
        kind == &kVectorKind ? products[i] == 0 : (half_of_float(products[i]) & 0x7FFF) == 0;
    if (is_zero && left[i] != 0 && right[i] != 0) float_underflow_error();
  }
}

static Datum combine(FunctionCallInfo fcinfo, const VectorKind* kind, char operation) {
  VectorHeader* left = detoast_vector(PG_GETARG_DATUM(0), kind);
  VectorHeader* right = detoast_vector(PG_GETARG_DATUM(1), kind);
  check_same_dimension(left, right, kind);
  const int dimension = left->dimension;
  const float* a = widened(left, kind);
  const float* b = widened(right, kind);
  float* elements = palloc(sizeof(float) * (Size)dimension);
  for (int i = 0; i < dimension; i++) {
    elements[i] = operation == '+' ? a[i] + b[i] : operation == '-' ? a[i] - b[i] : a[i] * b[i];
  }
  check_overflow(elements, dimension, kind);
  if (operation == '*') check_underflow(a, b, elements, dimension, kind);
  VectorHeader* answer = make_vector(dimension, kind);
  store_elements(answer, elements, kind);
  PG_RETURN_POINTER(answer);
}

static Datum add(FunctionCallInfo fcinfo, const VectorKind* kind) {
  return combine(fcinfo, kind, '+');
}

static Datum sub(FunctionCallInfo fcinfo, const VectorKind* kind) {
  return combine(fcinfo, kind, '-');
}

static Datum mul(FunctionCallInfo fcinfo, const VectorKind* kind) {
  return combine(fcinfo, kind, '*');
}

static char* bytes_of(VectorHeader* value, int place, const VectorKind* kind) {
  return (char*)(value + 1) + (Size)place * (Size)kind->element_bytes;
}

static Datum concat(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* left = detoast_vector(PG_GETARG_DATUM(0), kind);
  VectorHeader* right = detoast_vector(PG_GETARG_DATUM(1), kind);
  check_dimension(left->dimension + right->dimension, kind);
  VectorHeader* answer = make_vector(left->dimension + right->dimension, kind);
  memcpy(bytes_of(answer, 0, kind), bytes_of(left, 0, kind),
         (Size)left->dimension * (Size)kind->element_bytes);
  memcpy(bytes_of(answer, left->dimension, kind), bytes_of(right, 0, kind),
         (Size)right->dimension * (Size)kind->element_bytes);
  PG_RETURN_POINTER(answer);
}

// Gives `count` elements from a first one on, or those of them that there are, as substring() does
// with characters. The first element of all is 1.
static Datum subvector(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  const int64 first = PG_GETARG_INT32(1);
  const int64 count = PG_GETARG_INT32(2);
  const int64 begin = Max(first, 1);
  const int64 end = Min(first + count, (int64)value->dimension + 1);
  check_dimension(count < 1 ? 0 : end - begin, kind);
  VectorHeader* answer = make_vector((int)(end - begin), kind);
  memcpy(bytes_of(answer, 0, kind), bytes_of(value, (int)begin - 1, kind),
         (Size)(end - begin) * (Size)kind->element_bytes);
  PG_RETURN_POINTER(answer);
}

// A bit for each element: whether it is above zero.
static Datum binary_quantize(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  const float* elements = widened(value, kind);
  const Size bytes = VARBITTOTALLEN(value->dimension);
  VarBit* bits = palloc0(bytes);
  SET_VARSIZE(bits, bytes);
  VARBITLEN(bits) = value->dimension;
  for (int i = 0; i < value->dimension; i++) {
    if (elements[i] > 0) VARBITS(bits)[i / 8] |= (bits8)(0x80 >> i % 8);
  }
  PG_RETURN_VARBIT_P(bits);
}

FARVEC_OF_BOTH_KINDS(add, add)
FARVEC_OF_BOTH_KINDS(sub, sub)
FARVEC_OF_BOTH_KINDS(mul, mul)
FARVEC_OF_BOTH_KINDS(concat, concat)
FARVEC_OF_BOTH_KINDS(subvector, subvector)
FARVEC_OF_BOTH_KINDS(binary_quantize, binary_quantize)
