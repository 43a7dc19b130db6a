// Values of columns, as stores take them.
#include <postgres.h>

#include <math.h>
#include <port/pg_bitutils.h>
#include <utils/varbit.h>

#include "postgres/bit_order.h"
#include "postgres/half.h"
#include "postgres/index/index.h"
#include "postgres/kernels.h"
#include "postgres/vector.h"

#define LONGEST 1e18
#define SHORTEST_OF_COSINE 1e-16

Size vector_size(const StoreShape* shape) {
  switch (shape->type) {
    case FARVEC_F32:
      return sizeof(float) * (Size)shape->dimension;
    case FARVEC_F16:
      return sizeof(uint16) * (Size)shape->dimension;
    default:
      return ((Size)shape->dimension + 7) / 8;
  }
}

static void check_shape(int dimension, const StoreShape* shape) {
  if ((uint32)dimension == shape->dimension) return;
  ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                  errmsg("%d dimensions came to an index of %u", dimension, shape->dimension)));
}

static double write_bits(Datum value, const StoreShape* shape, void* to) {
  VarBit* bits = DatumGetVarBitP(value);
  check_shape(VARBITLEN(bits), shape);
  if ((Size)VARBITBYTES(bits) != vector_size(shape)) {
    ereport(ERROR,
            (errcode(ERRCODE_DATA_CORRUPTED), errmsg("a stored value of %d bits has %d bytes",
                                                     VARBITLEN(bits), (int)VARBITBYTES(bits))));
  }
  reverse_bits(VARBITS(bits), VARBITBYTES(bits), to);
  const double length = sqrt((double)pg_popcount((const char*)VARBITS(bits), VARBITBYTES(bits)));
  if ((Pointer)bits != DatumGetPointer(value)) pfree(bits);
  return length;
}

static void refuse_not_finite(void) {
  ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                  errmsg("a stored vector has elements that are not finite")));
}

static double write_floats(Datum value, const StoreShape* shape, void* to) {
  VectorHeader* vector = detoast_vector(value, &kVectorKind);
  check_shape(vector->dimension, shape);
  const float* elements = vector_floats(vector);
  double squares = 0;
  for (int i = 0; i < vector->dimension; i++) squares += (double)elements[i] * (double)elements[i];
  if (!isfinite(squares)) refuse_not_finite();
  memcpy(to, elements, sizeof(float) * (Size)vector->dimension);
  if ((Pointer)vector != DatumGetPointer(value)) pfree(vector);
  return sqrt(squares);
}

static double write_halves(Datum value, const StoreShape* shape, void* to) {
  VectorHeader* vector = detoast_vector(value, &kHalfvecKind);
  check_shape(vector->dimension, shape);
  const uint16* halves = vector_halves(vector);
  double squares = 0;
  for (int i = 0; i < vector->dimension; i++) {
    if (!half_is_finite(halves[i])) refuse_not_finite();
    const double element = (double)float_of_finite_half(halves[i]);
    squares += element * element;
  }
  memcpy(to, halves, sizeof(uint16) * (Size)vector->dimension);
  if ((Pointer)vector != DatumGetPointer(value)) pfree(vector);
  return sqrt(squares);
}

double write_vector(Datum value, const StoreShape* shape, void* to) {
  switch (shape->type) {
    case FARVEC_F32:
      return write_floats(value, shape, to);
    case FARVEC_F16:
      return write_halves(value, shape, to);
    default:
      return write_bits(value, shape, to);
  }
}

// Sums of squares are floats. The cosine of very short vectors is not what SQL computes, and
// squares of very long ones are infinite.
bool can_be_compared(const StoreShape* shape, double length) {
  return length < LONGEST && (shape->metric != FARVEC_COSINE || length > SHORTEST_OF_COSINE);
}

uint32 kind_of_vector(const StoreShape* shape, double length) {
  return can_be_compared(shape, length) ? 0 : FARVEC_UNFIT;
}
