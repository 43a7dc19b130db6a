// Casts between arrays, vectors and half vectors. The second argument of each is the type's
// modifier.
#include <postgres.h>

#include <catalog/pg_type.h>
#include <utils/array.h>
#include <utils/fmgrprotos.h>
#include <utils/lsyscache.h>

#include "postgres/vector.h"

PG_FUNCTION_INFO_V1(farvec_halfvec_to_vector);
PG_FUNCTION_INFO_V1(farvec_vector_to_halfvec);

static float float_of_datum(Datum datum, Oid type) {
  switch (type) {
    case INT4OID:
      return (float)DatumGetInt32(datum);
    case FLOAT4OID:
      return DatumGetFloat4(datum);
    case FLOAT8OID:
      return (float)DatumGetFloat8(datum);
    case NUMERICOID:
      return DatumGetFloat4(DirectFunctionCall1(numeric_float4, datum));
    default:
      ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                      errmsg("arrays of this type are not cast to vectors"),
                      errhint("Cast to real[] first.")));
  }
}

static Datum of_array(FunctionCallInfo fcinfo, const VectorKind* kind) {
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(0);
  if (ARR_NDIM(array) > 1) {
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                    errmsg("an array of %d dimensions is no %s", ARR_NDIM(array), kind->name),
                    errhint("Cast each of its rows.")));
  }
  if (array_contains_nulls(array)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("an array with nulls is no %s", kind->name)));
  }
  int16 length;
  bool by_value;
  char alignment;
  Datum* datums;
  int count;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &datums, NULL, &count);
  check_dimension(count, kind);
  check_modifier(PG_GETARG_INT32(1), count);
  float* elements = palloc(sizeof(float) * (Size)count);
  for (int i = 0; i < count; i++) elements[i] = float_of_datum(datums[i], ARR_ELEMTYPE(array));
  VectorHeader* value = make_vector(count, kind);
  store_elements(value, elements, kind);
  check_finite(elements, count, kind);
  PG_RETURN_POINTER(value);
}

static Datum to_array(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  const float* elements = widened(value, kind);
  Datum* datums = palloc(sizeof(Datum) * (Size)value->dimension);
  for (int i = 0; i < value->dimension; i++) datums[i] = Float4GetDatum(elements[i]);
  PG_RETURN_ARRAYTYPE_P(
      construct_array(datums, value->dimension, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}

// The cast of a type to itself only checks the dimension.
static Datum to_modifier(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  check_modifier(PG_GETARG_INT32(1), value->dimension);
  PG_RETURN_POINTER(value);
}

static Datum between_kinds(FunctionCallInfo fcinfo, const VectorKind* from, const VectorKind* to) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), from);
  check_modifier(PG_GETARG_INT32(1), value->dimension);
  VectorHeader* answer = make_vector(value->dimension, to);
  store_elements(answer, widened(value, from), to);
  PG_RETURN_POINTER(answer);
}

Datum farvec_halfvec_to_vector(PG_FUNCTION_ARGS) {
  return between_kinds(fcinfo, &kHalfvecKind, &kVectorKind);
}

Datum farvec_vector_to_halfvec(PG_FUNCTION_ARGS) {
  return between_kinds(fcinfo, &kVectorKind, &kHalfvecKind);
}

FARVEC_OF_BOTH_KINDS(of_array, of_array)
FARVEC_OF_BOTH_KINDS(to_array, to_array)
FARVEC_OF_BOTH_KINDS(to_modifier, to_modifier)
