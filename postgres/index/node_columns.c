// The columns of an index on a compute node: the node's collection has a schema with them.
#include <postgres.h>

#include <math.h>
#include <mb/pg_wchar.h>
#include <utils/builtins.h>
#include <utils/datetime.h>
#include <utils/fmgrprotos.h>
#include <utils/json.h>
#include <utils/jsonb.h>
#include <utils/memutils.h>
#include <utils/numeric.h>
#include <utils/timestamp.h>

#include "postgres/encoding.h"
#include "postgres/index/index.h"
#include "postgres/index/node_store.h"

// ---- The schema of the collection ----

static void refuse_schema(const Store* store, const char* why) {
  StringInfoData schema;
  initStringInfo(&schema);
  append_schema(&schema, &store->columns);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the collection of the compute node %s has not the columns of the index: "
                  "%s",
                  store->key.place, why),
           errhint("Make it with: farvec collection create ... --schema '%s'", schema.data)));
}

static const char* text_in(const JsonbValue* object, const char* name) {
  JsonbValue field;
  if (getKeyJsonValueFromContainer(object->val.binary.data, name, (int)strlen(name), &field) ==
          NULL ||
      field.type != jbvString) {
    return "";
  }
  return pnstrdup(field.val.string.val, (Size)field.val.string.len);
}

static bool is_true_in(const JsonbValue* object, const char* name) {
  JsonbValue field;
  return getKeyJsonValueFromContainer(object->val.binary.data, name, (int)strlen(name), &field) !=
             NULL &&
         field.type == jbvBool && field.val.boolean;
}

// The type's word where the collection has a column, else NULL. Marks are rows of nulls, so that no
// column can be other than nullable.
static const char* type_in(const Store* store, JsonbContainer* schema, const char* wanted) {
  const char* type = NULL;
  for (uint32 i = 0; i < JsonContainerSize(schema); i++) {
    const JsonbValue* column = getIthJsonbValueFromContainer(schema, i);
    if (column->type != jbvBinary || !JsonContainerIsObject(column->val.binary.data)) continue;
    const char* name = text_in(column, "name");
    if (!is_true_in(column, "nullable")) {
      refuse_schema(store, psprintf("column %s may not be null", message_of_utf8(name)));
    }
    if (strcmp(name, wanted) == 0) type = text_in(column, "type");
  }
  return type;
}

static void check_schema(const Store* store, JsonbContainer* schema) {
  for (uint32 i = 0; i < store->columns.count; i++) {
    StoreColumns one = {.count = 1};
    StringInfoData expected;
    one.columns[0] = store->columns.columns[i];
    initStringInfo(&expected);
    append_schema(&expected, &one);
    const char* type = type_in(store, schema, one.columns[0].name);
    if (type == NULL) refuse_schema(store, psprintf("there is no %s", expected.data));
    const char* found = psprintf("%s: %s", one.columns[0].name, message_of_utf8(type));
    if (strcmp(found, expected.data) != 0) {
      refuse_schema(store, psprintf("it has %s, and not %s", found, expected.data));
    }
  }
}

static Jsonb* state_of(Store* store, Connection* node, Patience* patience) {
  char* json = NULL;
  farvec_error error;
  farvec_status status;
  FARVEC_CALL(patience, status, library()->state(node->handle, &wait, &json, &error));
  if (status != FARVEC_OK) raise_node_error(store, &error, patience);
  char* copy = pstrdup(json);
  library()->text_free(json);
  return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text_of_utf8(copy))));
}

void check_node_columns(Store* store, Connection* node, Patience* patience) {
  JsonbValue schema;
  if (store->columns.count == 0) return;
  Jsonb* state = state_of(store, node, patience);
  const bool has_schema =
      JsonContainerIsObject(&state->root) &&
      getKeyJsonValueFromContainer(&state->root, "schema", 6, &schema) != NULL &&
      schema.type == jbvBinary && JsonContainerIsArray(schema.val.binary.data);
  if (!has_schema) refuse_schema(store, "it has no schema");
  check_schema(store, schema.val.binary.data);
}

// ---- Values ----

// A tuple of our own making, column after column.
typedef struct TupleReader {
  const char* nulls;
  const char* slots;
  const char* texts;
} TupleReader;

static TupleReader reader_of(const StoreColumns* columns, const char* tuple) {
  const char* nulls = tuple + sizeof(uint16);
  const char* slots = nulls + (columns->count + 7) / 8;
  return (TupleReader){nulls, slots, slots + columns->count * sizeof(uint64)};
}

static void append_bytes(StringInfo to, const char* bytes, Size length) {
  escape_json(to, pnstrdup(bytes, length));
}

static void append_moment(StringInfo to, int64 moment) {
  struct pg_tm tm;
  fsec_t fraction;
  const int64 epoch = (int64)(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
  if (timestamp2tm(moment - epoch, NULL, &tm, &fraction, NULL, NULL) != 0) {
    elog(ERROR, "a stored time is out of range");
  }
  appendStringInfo(to, "\"%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year, tm.tm_mon, tm.tm_mday,
                   tm.tm_hour, tm.tm_min, tm.tm_sec);
  if (fraction != 0) appendStringInfo(to, ".%06d", (int)fraction);
  appendStringInfoString(to, "Z\"");
}

static void append_number(StringInfo to, uint64 word) {
  double number;
  memcpy(&number, &word, sizeof number);
  if (isinf(number)) {
    appendStringInfoString(to, number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  } else {
    appendStringInfo(to, "%.17g", number);
  }
}

static uint32 number_at(const char* bytes) {
  uint32 number;
  memcpy(&number, bytes, sizeof number);
  return number;
}

static void append_labels(StringInfo to, const char* set) {
  const uint32 count = number_at(set);
  const char* labels = set + (1 + count) * sizeof(uint32);
  uint32 begin = 0;
  appendStringInfoChar(to, '[');
  for (uint32 i = 0; i < count; i++) {
    const uint32 end = number_at(set + (1 + i) * sizeof(uint32));
    if (i > 0) appendStringInfoChar(to, ',');
    append_bytes(to, labels + begin, end - begin);
    begin = end;
  }
  appendStringInfoChar(to, ']');
}

static void append_value(StringInfo to, int32 type, uint64 word, const char* texts) {
  const char* text = texts + (uint32)word;
  switch (type) {
    case FARVEC_COLUMN_I64:
      appendStringInfo(to, INT64_FORMAT, (int64)word);
      break;
    case FARVEC_COLUMN_F64:
      append_number(to, word);
      break;
    case FARVEC_COLUMN_BOOL:
      appendStringInfoString(to, word != 0 ? "true" : "false");
      break;
    case FARVEC_COLUMN_TIMESTAMP:
      append_moment(to, (int64)word);
      break;
    case FARVEC_COLUMN_STRING:
      append_bytes(to, text, word >> 32);
      break;
    default:
      append_labels(to, text);
  }
}

static char* object_of(const StoreColumns* columns, const char* tuple) {
  const TupleReader reader = reader_of(columns, tuple);
  StringInfoData object;
  initStringInfo(&object);
  for (uint32 i = 0; i < columns->count; i++) {
    uint64 word;
    memcpy(&word, reader.slots + i * sizeof word, sizeof word);
    appendStringInfo(&object, "%s\"%s\":", i == 0 ? "{" : ",", columns->columns[i].name);
    if ((reader.nulls[i / 8] >> i % 8 & 1) != 0) {
      appendStringInfoString(&object, "null");
    } else {
      append_value(&object, columns->columns[i].type, word, reader.texts);
    }
  }
  appendStringInfoChar(&object, '}');
  return object.data;
}

const char** objects_of(const StoreColumns* columns, StoreTuples tuples, size_t count) {
  if (columns->count == 0) return NULL;
  const char** objects = palloc(Max(count, 1) * sizeof *objects);
  for (size_t i = 0; i < count; i++) {
    objects[i] = object_of(columns, tuples.bytes + (i == 0 ? 0 : tuples.ends[i - 1]));
  }
  return objects;
}

// ---- Comparing them ----

static bool is_number(const JsonbValue* found, uint64 word) {
  double number;
  memcpy(&number, &word, sizeof number);
  if (found->type == jbvString) {
    return isinf(number) && (found->val.string.val[0] == '-') == (number < 0);
  }
  return found->type == jbvNumeric &&
         DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(found->val.numeric))) ==
             number;
}

static bool is_integer(const JsonbValue* found, uint64 word) {
  return found->type == jbvNumeric &&
         DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(found->val.numeric))) ==
             (int64)word;
}

static bool is_text(const JsonbValue* found, const char* text, Size length) {
  return found->type == jbvString && (Size)found->val.string.len == length &&
         memcmp(found->val.string.val, text, length) == 0;
}

static bool is_moment(const JsonbValue* found, uint64 word) {
  StringInfoData text;
  initStringInfo(&text);
  append_moment(&text, (int64)word);
  return is_text(found, text.data + 1, (Size)text.len - 2);
}

static bool is_set(const JsonbValue* found, const char* set) {
  const uint32 count = number_at(set);
  const char* labels = set + (1 + count) * sizeof(uint32);
  uint32 begin = 0;
  if (found->type != jbvBinary || !JsonContainerIsArray(found->val.binary.data) ||
      JsonContainerSize(found->val.binary.data) != count) {
    return false;
  }
  for (uint32 i = 0; i < count; i++) {
    const uint32 end = number_at(set + (1 + i) * sizeof(uint32));
    const JsonbValue* label = getIthJsonbValueFromContainer(found->val.binary.data, i);
    if (!is_text(label, labels + begin, end - begin)) return false;
    begin = end;
  }
  return true;
}

static bool is_value(const JsonbValue* found, int32 type, uint64 word, const char* texts) {
  const char* text = texts + (uint32)word;
  switch (type) {
    case FARVEC_COLUMN_I64:
      return is_integer(found, word);
    case FARVEC_COLUMN_F64:
      return is_number(found, word);
    case FARVEC_COLUMN_BOOL:
      return found->type == jbvBool && found->val.boolean == (word != 0);
    case FARVEC_COLUMN_TIMESTAMP:
      return is_moment(found, word);
    case FARVEC_COLUMN_STRING:
      return is_text(found, text, word >> 32);
    default:
      return is_set(found, text);
  }
}

static bool is_same(const StoreColumns* columns, const char* json, const char* tuple) {
  if (json == NULL) return false;
  Jsonb* object = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
  const TupleReader reader = reader_of(columns, tuple);
  for (uint32 i = 0; i < columns->count; i++) {
    const char* name = columns->columns[i].name;
    const bool is_null = (reader.nulls[i / 8] >> i % 8 & 1) != 0;
    JsonbValue found;
    uint64 word;
    memcpy(&word, reader.slots + i * sizeof word, sizeof word);
    if (!JsonContainerIsObject(&object->root) ||
        getKeyJsonValueFromContainer(&object->root, name, (int)strlen(name), &found) == NULL) {
      return false;
    }
    if (is_null != (found.type == jbvNull)) return false;
    if (!is_null && !is_value(&found, columns->columns[i].type, word, reader.texts)) return false;
  }
  return true;
}

// The row's memory goes at once, since there may be many.
static bool is_same_row(const Store* store, const farvec_rows* rows, size_t row, const char* tuple,
                        MemoryContext scratch) {
  const MemoryContext before = MemoryContextSwitchTo(scratch);
  const bool answer = is_same(&store->columns, library()->rows_attributes(rows, row), tuple);
  MemoryContextSwitchTo(before);
  MemoryContextReset(scratch);
  return answer;
}

// JSON of another encoding than the database's cannot be read, and counts as the same.
void compare_on_node(Store* store, const uint64* vids, StoreTuples tuples, size_t count, bool* same,
                     Patience* patience) {
  farvec_rows* rows = rows_of_node(store, vids, count, patience);
  const MemoryContext scratch =
      AllocSetContextCreate(CurrentMemoryContext, "farvec values", ALLOCSET_SMALL_SIZES);
  for (size_t i = 0; i < count; i++) {
    const char* tuple = tuples.bytes + (i == 0 ? 0 : tuples.ends[i - 1]);
    same[i] = GetDatabaseEncoding() != PG_UTF8 || !library()->rows_found(rows, i) ||
              is_same_row(store, rows, i, tuple, scratch);
  }
  library()->rows_free(rows);
  MemoryContextDelete(scratch);
}
