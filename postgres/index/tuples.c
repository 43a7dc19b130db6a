// Values of rows as stores take them. The bytes of a tuple are those of layout/attributes/tuple.h.
#include <postgres.h>

#include <catalog/pg_type.h>
#include <math.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/date.h>
#include <utils/memutils.h>
#include <utils/timestamp.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

#include "postgres/index/columns.h"

#define MOST_TUPLE 24000  // bytes of texts in one row
#define MOST_TEXT 4096

// From 1970 to 2000, from which SQL counts.
#define EPOCH_DAYS ((int64)(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE))
#define EPOCH (EPOCH_DAYS * USECS_PER_DAY)
// The years 1 to 9999.
#define LEAST_MOMENT INT64CONST(-62135596800000000)
#define MOST_MOMENT INT64CONST(253402300799999999)

Size column_room(const StoreColumns* columns) {
  return Min(MOST_TEXT, MOST_TUPLE / Max(columns->count, 1));
}

int64 stored_integer(Datum value, Oid sql_type) {
  if (sql_type == INT2OID) return DatumGetInt16(value);
  return sql_type == INT4OID ? DatumGetInt32(value) : DatumGetInt64(value);
}

double stored_number(Datum value, Oid sql_type) {
  const double number =
      sql_type == FLOAT4OID ? (double)DatumGetFloat4(value) : DatumGetFloat8(value);
  if (isnan(number)) return INFINITY;
  return number == 0 ? 0 : number;  // there is one zero
}

int64 stored_moment(Datum value, Oid sql_type, bool* is_edge) {
  int64 moment;
  if (sql_type == DATEOID) {
    const int64 days = DatumGetDateADT(value) + EPOCH_DAYS;
    moment = Max(Min(days, MOST_MOMENT / USECS_PER_DAY + 1), LEAST_MOMENT / USECS_PER_DAY - 1) *
             USECS_PER_DAY;
  } else {
    moment = Max(Min(DatumGetTimestamp(value), MOST_MOMENT - EPOCH), LEAST_MOMENT - EPOCH) + EPOCH;
  }
  moment = Max(Min(moment, MOST_MOMENT), LEAST_MOMENT);
  *is_edge = moment == MOST_MOMENT || moment == LEAST_MOMENT;
  return moment;
}

void make_tuples(TupleList* list, const StoreColumns* columns, size_t room) {
  list->columns = columns;
  list->count = 0;
  list->ends = columns->count == 0 ? NULL : palloc(room * sizeof(uint32));
  list->scratch = columns->count == 0 ? NULL
                                      : AllocSetContextCreate(CurrentMemoryContext, "farvec values",
                                                              ALLOCSET_SMALL_SIZES);
  initStringInfo(&list->bytes);
}

bool are_many(const TupleList* list) {
  return list->bytes.len / 512 > maintenance_work_mem;
}

void forget_tuples(TupleList* list) {
  list->count = 0;
  resetStringInfo(&list->bytes);
}

void grow_tuples(TupleList* list, size_t room) {
  if (list->ends != NULL) list->ends = repalloc(list->ends, room * sizeof(uint32));
}

static uint32 begin_of(const TupleList* list, size_t row) {
  return row == 0 ? 0 : list->ends[row - 1];
}

void move_tuple(TupleList* list, size_t from, size_t to) {
  if (list->ends == NULL || from == to) return;
  const uint32 bytes = list->ends[from] - begin_of(list, from);
  const uint32 place = begin_of(list, to);
  memmove(list->bytes.data + place, list->bytes.data + begin_of(list, from), bytes);
  list->ends[to] = place + bytes;
}

void cut_tuples(TupleList* list, size_t count) {
  if (list->ends == NULL) return;
  list->count = count;
  list->bytes.len = (int)begin_of(list, count);
}

StoreTuples tuples_of(const TupleList* list) {
  return (StoreTuples){list->bytes.data, list->ends};
}

// ---- Labels ----

static int compare_labels(const void* left, const void* right) {
  return strcmp(*(char* const*)left, *(char* const*)right);
}

// Sorts labels and removes those that come again. Answers how many are left, and writes their
// bytes.
static uint32 sort_labels(char** labels, int count, Size* bytes) {
  uint32 kept = 0;
  *bytes = 0;
  qsort(labels, (size_t)count, sizeof *labels, compare_labels);
  for (int i = 0; i < count; i++) {
    if (kept > 0 && strcmp(labels[kept - 1], labels[i]) == 0) continue;
    *bytes += strlen(labels[i]);
    labels[kept++] = labels[i];
  }
  return kept;
}

static void append_number(StringInfo to, uint32 number) {
  appendBinaryStringInfo(to, (const char*)&number, sizeof number);
}

static void append_labels(StringInfo to, char** labels, uint32 count) {
  uint32 end = 0;
  append_number(to, count);
  for (uint32 i = 0; i < count; i++) append_number(to, end += (uint32)strlen(labels[i]));
  for (uint32 i = 0; i < count; i++) appendStringInfoString(to, labels[i]);
}

// Nulls in an array are labels of nothing, as for SQL's operators. Labels that are too many become
// one that each condition asks for too.
static void append_set(StringInfo to, Datum value, Size room) {
  static char* any[] = {FARVEC_ANY_LABEL};
  ArrayType* array = DatumGetArrayTypeP(value);
  Datum* elements;
  bool* nulls;
  int all;
  int count = 0;
  Size bytes;
  deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &all);
  char** labels = palloc((Size)Max(all, 1) * sizeof *labels);
  for (int i = 0; i < all; i++) {
    if (!nulls[i]) labels[count++] = stored_label(elements[i], room);
  }
  const uint32 kept = sort_labels(labels, count, &bytes);
  // A label that was cut has all the room, so that the set is too large.
  const bool is_small = bytes + (1 + (Size)kept) * sizeof(uint32) <= room;
  append_labels(to, is_small ? labels : any, is_small ? kept : 1);
}

// ---- Tuples ----

static void append_text(StringInfo to, Datum value, Size room) {
  text* whole = DatumGetTextPP(value);
  appendStringInfoString(to, stored_text(VARDATA_ANY(whole), (Size)VARSIZE_ANY_EXHDR(whole), room));
}

static uint64 word_of(const StoreColumn* column, Datum value) {
  bool is_edge;
  double number;
  uint64 word;
  switch (column->type) {
    case FARVEC_COLUMN_I64:
      return (uint64)stored_integer(value, column->sql_type);
    case FARVEC_COLUMN_BOOL:
      return DatumGetBool(value) ? 1 : 0;
    case FARVEC_COLUMN_TIMESTAMP:
      return (uint64)stored_moment(value, column->sql_type, &is_edge);
    default:
      number = stored_number(value, column->sql_type);
      memcpy(&word, &number, sizeof word);
      return word;
  }
}

// Appends what does not fit a word, and answers where it lies.
static uint64 append_long(StringInfo to, int texts, const StoreColumn* column, Datum value,
                          Size room) {
  const int begin = to->len;
  if (column->type == FARVEC_COLUMN_STRING) {
    append_text(to, value, room);
  } else {
    append_set(to, value, room);
  }
  return (uint64)(begin - texts) | (uint64)(to->len - begin) << 32;
}

static bool is_long(const StoreColumn* column) {
  return column->type == FARVEC_COLUMN_STRING || column->type == FARVEC_COLUMN_SET;
}

// Appends a row without its values, which are zero, and answers where their slots are.
static int append_slots(StringInfo to, uint16 count) {
  const int begin = to->len;
  const int head = (int)sizeof count + (count + 7) / 8;
  const int bytes = head + (int)sizeof(uint64) * count;
  enlargeStringInfo(to, bytes);
  memset(to->data + begin, 0, (Size)bytes);
  to->len += bytes;
  memcpy(to->data + begin, &count, sizeof count);
  return begin + head;
}

static void append_row(TupleList* list, const Datum* values, const bool* nulls) {
  const StoreColumns* columns = list->columns;
  StringInfo to = &list->bytes;
  const int null_bits = to->len + (int)sizeof(uint16);
  const int slots = append_slots(to, (uint16)columns->count);
  const int texts = to->len;
  for (uint32 i = 0; i < columns->count; i++) {
    const StoreColumn* column = &columns->columns[i];
    if (nulls[i]) {
      to->data[null_bits + (int)i / 8] |= (char)(1 << i % 8);
      continue;
    }
    const uint64 word = is_long(column)
                            ? append_long(to, texts, column, values[i], column_room(columns))
                            : word_of(column, values[i]);
    memcpy(to->data + slots + i * sizeof word, &word, sizeof word);
  }
}

void add_tuple(TupleList* list, const Datum* values, const bool* nulls) {
  if (list->columns->count == 0) return;
  list->bytes.len = (int)begin_of(list, list->count);  // an error may have left the half of a row
  const MemoryContext before = MemoryContextSwitchTo(list->scratch);
  append_row(list, values, nulls);
  MemoryContextSwitchTo(before);
  MemoryContextReset(list->scratch);
  list->ends[list->count++] = (uint32)list->bytes.len;
}

void add_last_tuple(TupleList* list, const TupleList* from) {
  if (from->count == 0) return;
  const uint32 begin = begin_of(from, from->count - 1);
  appendBinaryStringInfo(&list->bytes, from->bytes.data + begin,
                         (int)(from->ends[from->count - 1] - begin));
  list->ends[list->count++] = (uint32)list->bytes.len;
}
