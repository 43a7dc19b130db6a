#include <postgres.h>

#include "postgres/query.h"

#include <math.h>
#include <utils/builtins.h>
#include <utils/fmgrprotos.h>
#include <utils/varbit.h>

#include "postgres/bit_order.h"
#include "postgres/half.h"
#include "postgres/vector_text.h"

static const char* type_name(int32_t type) {
  static const char* const names[] = {"floats", "half floats", "bytes from 0 to 255",
                                      "bytes from -128 to 127", "bits"};
  return type >= 0 && (size_t)type < lengthof(names) ? names[type] : "an unknown type";
}

static void refuse_bits(int32_t type, bool is_bits) {
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("the query is of %s, and the node has vectors of %s",
                         is_bits ? "bits" : "numbers", type_name(type)),
                  errhint(is_bits ? "Ask with a vector." : "Ask with bits, as B'1011'.")));
}

static farvec_vectors bits_query(VarBit* bits) {
  uint8* bytes = palloc((Size)VARBITBYTES(bits) + 1);
  reverse_bits(VARBITS(bits), VARBITBYTES(bits), bytes);
  return (farvec_vectors){bytes, 1, (uint32_t)VARBITLEN(bits), FARVEC_B1};
}

// Ends with an error for numbers beyond the greatest half float.
static const void* halves_of(const float* elements, int count) {
  VectorHeader* halves = make_vector(count, &kHalfvecKind);
  store_elements(halves, elements, &kHalfvecKind);
  return vector_halves(halves);
}

static void* bytes_of(const float* elements, int count, int32_t type) {
  const float least = type == FARVEC_I8 ? -128 : 0;
  uint8* bytes = palloc((Size)count);
  for (int i = 0; i < count; i++) {
    const float element = elements[i];
    if (element != rintf(element) || element < least || element > least + 255) {
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                      errmsg("element %d of the query is %g, and the node has %s", i + 1,
                             (double)element, type_name(type)),
                      errhint("Ask with whole numbers of this range.")));
    }
    bytes[i] = (uint8)(int)element;
  }
  return bytes;
}

static farvec_vectors numbers_query(const float* elements, int count, int32_t type) {
  const void* data = elements;
  switch (type) {
    case FARVEC_F32:
      break;
    case FARVEC_F16:
      data = halves_of(elements, count);
      break;
    case FARVEC_U8:
    case FARVEC_I8:
      data = bytes_of(elements, count, type);
      break;
    default:
      refuse_bits(type, false);
  }
  return (farvec_vectors){data, 1, (uint32_t)count, type};
}

static farvec_vectors vector_query(VectorHeader* value, const VectorKind* kind, int32_t type) {
  return numbers_query(widened(value, kind), value->dimension, type);
}

// A text is read as what the node has.
static farvec_vectors text_query(const char* text, int32_t type) {
  if (type != FARVEC_B1)
    return vector_query(vector_of_text(text, &kVectorKind), &kVectorKind, type);
  return bits_query(DatumGetVarBitP(DirectFunctionCall3(
      varbit_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1))));
}

farvec_vectors query_for(Datum query, QueryForm form, const farvec_description* served) {
  switch (form) {
    case kQueryVector:
      return vector_query(detoast_vector(query, &kVectorKind), &kVectorKind, served->type);
    case kQueryHalfvec:
      return vector_query(detoast_vector(query, &kHalfvecKind), &kHalfvecKind, served->type);
    case kQueryBits:
      if (served->type != FARVEC_B1) refuse_bits(served->type, true);
      return bits_query(DatumGetVarBitP(query));
    default:
      return text_query(TextDatumGetCString(query), served->type);
  }
}
