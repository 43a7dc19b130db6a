#include <postgres.h>

#include "postgres/vector_text.h"

#include <common/shortest_dec.h>
#include <errno.h>
#include <math.h>

#include "postgres/half.h"

// A text that is being read.
typedef struct Reader {
  const char* whole;
  const char* at;
  const VectorKind* kind;
} Reader;

static void refuse(const Reader* reader, const char* why) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                  errmsg("this is no %s: \"%s\"", reader->kind->name, reader->whole),
                  errdetail("At byte %d: %s.", (int)(reader->at - reader->whole), why),
                  errhint("Write numbers like [1,2.5,-3].")));
}

static void skip_space(Reader* reader) {
  while (*reader->at != '\0' && strchr(" \t\n\r\v\f", *reader->at) != NULL) reader->at++;
}

// Skips space, then one character that has to be there.
static bool take(Reader* reader, char wanted) {
  skip_space(reader);
  if (*reader->at != wanted) return false;
  reader->at++;
  return true;
}

static bool is_beyond_range(float value, int error, const VectorKind* kind) {
  if (isinf(value)) return error == ERANGE;  // or the text says "Infinity"
  return kind == &kHalfvecKind && isfinite(value) && !half_is_finite(half_of_float(value));
}

static float take_number(Reader* reader, int place) {
  skip_space(reader);
  if (*reader->at == '\0') refuse(reader, "the text ends where a number is expected");
  char* end;
  errno = 0;
  const float value = strtof(reader->at, &end);
  const int error = errno;
  if (end == reader->at) refuse(reader, "a number is expected");
  if (is_beyond_range(value, error, reader->kind)) {
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("element %d, \"%s\", is out of the range of %s", place,
                           pnstrdup(reader->at, (Size)(end - reader->at)), reader->kind->name)));
  }
  check_finite_element(value, place, reader->kind);
  reader->at = end;
  return value;
}

VectorHeader* vector_of_text(const char* text, const VectorKind* kind) {
  Reader reader = {text, text, kind};
  if (!take(&reader, '[')) refuse(&reader, "a [ is expected");
  if (take(&reader, ']')) check_dimension(0, kind);
  int room = 64;
  int count = 0;
  float* elements = palloc(sizeof(float) * (Size)room);
  do {
    check_dimension(count + 1, kind);
    if (count == room) {
      room *= 2;
      elements = repalloc(elements, sizeof(float) * (Size)room);
    }
    elements[count] = take_number(&reader, count + 1);
    count++;
  } while (take(&reader, ','));
  if (!take(&reader, ']')) refuse(&reader, "a comma or a ] is expected");
  skip_space(&reader);
  if (*reader.at != '\0') refuse(&reader, "something comes after the ]");
  VectorHeader* value = make_vector(count, kind);
  store_elements(value, elements, kind);
  pfree(elements);
  return value;
}

static Datum in(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = vector_of_text(PG_GETARG_CSTRING(0), kind);
  check_modifier(PG_GETARG_INT32(2), value->dimension);
  PG_RETURN_POINTER(value);
}

static Datum out(FunctionCallInfo fcinfo, const VectorKind* kind) {
  VectorHeader* value = detoast_vector(PG_GETARG_DATUM(0), kind);
  const float* elements = widened(value, kind);
  // A number and the comma after it take no more than the length, which counts a closing zero.
  char* text = palloc(FLOAT_SHORTEST_DECIMAL_LEN * (Size)value->dimension + 3);
  char* at = text;
  for (int i = 0; i < value->dimension; i++) {
    *at++ = i == 0 ? '[' : ',';
    at += float_to_shortest_decimal_bufn(elements[i], at);
  }
  *at++ = ']';
  *at = '\0';
  PG_RETURN_CSTRING(text);
}

FARVEC_OF_BOTH_KINDS(in, in)
FARVEC_OF_BOTH_KINDS(out, out)
