// Vectors as bytes of the wire: the dimension and a zero of 16 bits each, then the elements,
// big-endian.
#include <postgres.h>

#include <libpq/pqformat.h>
#include <utils/array.h>

#include "postgres/half.h"
#include "postgres/vector.h"

static void receive_floats(StringInfo message, VectorHeader* to) {
  float* floats = vector_floats(to);
  for (int i = 0; i < to->dimension; i++) {
    floats[i] = pq_getmsgfloat4(message);
    check_finite_element(floats[i], i + 1, &kVectorKind);
  }
}

static void receive_halves(StringInfo message, VectorHeader* to) {
  uint16* halves = vector_halves(to);
  for (int i = 0; i < to->dimension; i++) {
    halves[i] = (uint16)pq_getmsgint(message, sizeof(uint16));
    if (half_is_finite(halves[i])) continue;
    const bool is_nan = (halves[i] & 0x3FF) != 0;
    check_finite_element(float_of_bits(is_nan ? 0x7FC00000 : 0x7F800000), i + 1, &kHalfvecKind);
  }
}

static Datum receive(FunctionCallInfo fcinfo, const VectorKind* kind) {
  StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
  const int dimension = (int16)pq_getmsgint(message, sizeof(int16));
  const int unused = (int)pq_getmsgint(message, sizeof(int16));
  check_dimension(dimension, kind);
  check_modifier(PG_GETARG_INT32(2), dimension);
  if (unused != 0) {
    ereport(ERROR,
            (errcode(ERRCODE_DATA_EXCEPTION),
             errmsg("bytes 2 and 3 of a binary %s are %d, and have to be 0", kind->name, unused)));
  }
  VectorHeader* value = make_vector(dimension, kind);
  if (kind == &kVectorKind) {
    receive_floats(message, value);
  } else {
    receive_halves(message, value);
  }
  PG_RETURN_POINTER(value);
}

static Datum send(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  StringInfoData message;
  pq_begintypsend(&message);
  enlargeStringInfo(&message, 4 + kind->element_bytes * value->dimension);
  pq_sendint16(&message, (uint16)value->dimension);
  pq_sendint16(&message, (uint16)value->unused);
  for (int i = 0; i < value->dimension; i++) {
    if (kind == &kVectorKind) {
      pq_sendfloat4(&message, vector_floats(value)[i]);
    } else {
      pq_sendint16(&message, vector_halves(value)[i]);
    }
  }
  PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

// The type's modifier is its dimension.
static Datum modifier_in(FunctionCallInfo fcinfo, const VectorKind* kind) {
  int count;
  const int32* modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &count);
  if (count != 1 || modifiers[0] < 1 || modifiers[0] > FARVEC_MAX_DIMENSION) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("%s takes its dimension alone, from 1 to %d", kind->name, FARVEC_MAX_DIMENSION),
             errhint("Write %s(768), or %s for any dimension.", kind->name, kind->name)));
  }
  PG_RETURN_INT32(modifiers[0]);
}

FARVEC_OF_BOTH_KINDS(recv, receive)
FARVEC_OF_BOTH_KINDS(send, send)
FARVEC_OF_BOTH_KINDS(typmod_in, modifier_in)
