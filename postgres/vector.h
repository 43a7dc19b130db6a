// This header has what PostgreSQL stores for `vector` and `halfvec`. The bytes are pgvector's too.
#ifndef FARVEC_POSTGRES_VECTOR_H
#define FARVEC_POSTGRES_VECTOR_H

#include <postgres.h>

#include <fmgr.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

#define FARVEC_MAX_DIMENSION 16000

// Elements lie directly after it: four bytes of a float each, or two of a half float.
typedef struct VectorHeader {
  int32 vl_len_;  // PostgreSQL's own; VARSIZE() and SET_VARSIZE() alone touch it
  int16 dimension;
  int16 unused;  // 0
} VectorHeader;

// What differs between the two types.
typedef struct VectorKind {
  const char* name;   // what users write
  int element_bytes;  // 4 or 2
} VectorKind;

extern const VectorKind kVectorKind;
extern const VectorKind kHalfvecKind;

static inline float* vector_floats(VectorHeader* value) {
  return (float*)(value + 1);
}
static inline uint16* vector_halves(VectorHeader* value) {
  return (uint16*)(value + 1);
}

// An uncompressed value of one of the two types; ends with an error where its bytes cannot be one.
// The answer is the datum's own memory, or allocated in the current context.
VectorHeader* detoast_vector(Datum datum, const VectorKind* kind);

// A value of zeros in the current context. The dimension must have been checked.
VectorHeader* make_vector(int dimension, const VectorKind* kind);

// Elements as floats: those of the value itself, or halves widened into the current context.
const float* widened(VectorHeader* value, const VectorKind* kind);

// Writes floats as elements. What is too large for a half float is an error that shows the number.
void store_elements(VectorHeader* to, const float* from, const VectorKind* kind);

// These end with an error unless all is well.
void check_dimension(int64 dimension, const VectorKind* kind);
void check_modifier(int32 modifier, int dimension);                           // -1 allows all
void check_finite_element(float element, int place, const VectorKind* kind);  // the first is 1
void check_finite(const float* elements, int count, const VectorKind* kind);
void check_same_dimension(const VectorHeader* left, const VectorHeader* right,
                          const VectorKind* kind);

// One function of SQL for each type, which are `body` with the type's kind.
#define FARVEC_OF_BOTH_KINDS(name, body)          \
  PG_FUNCTION_INFO_V1(farvec_vector_##name);      \
  Datum farvec_vector_##name(PG_FUNCTION_ARGS) {  \
    return body(fcinfo, &kVectorKind);            \
  }                                               \
  PG_FUNCTION_INFO_V1(farvec_halfvec_##name);     \
  Datum farvec_halfvec_##name(PG_FUNCTION_ARGS) { \
    return body(fcinfo, &kHalfvecKind);           \
  }

#endif
