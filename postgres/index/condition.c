// Conditions of a scan in the words of a store (docs/use/filters.md). Each says at most what the
// key of the scan says: a key that has no such words is left out, and the executor alone looks at
// it.
#include <postgres.h>

#include <access/stratnum.h>
#include <catalog/pg_type.h>
#include <math.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/lsyscache.h>
#include <utils/pg_locale.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

#include "postgres/index/columns.h"

// A request to the engine has room for so much beside a query.
#define MOST_BYTES 24000
#define MOST_TERMS 5000

// Strategies of arrays, after those of a B-tree.
#define OVERLAPS 6
#define CONTAINS 7

// The text of one key while it is written.
typedef struct Words {
  StringInfoData text;
  const StoreColumn* column;
  Size room;  // bytes that a text has
  Oid collation;
  uint32 terms;
} Words;

static void append_quoted(StringInfo to, const char* text) {
  appendStringInfoChar(to, '\'');
  for (const char* byte = text; *byte != '\0'; byte++) {
    if (*byte == '\'') appendStringInfoChar(to, '\'');
    appendStringInfoChar(to, *byte);
  }
  appendStringInfoChar(to, '\'');
}

static void append_number(StringInfo to, double number) {
  if (isinf(number)) {
    appendStringInfoString(to, number > 0 ? "inf" : "-inf");
  } else {
    appendStringInfo(to, "%.17g", number);
  }
}

// Where several values of SQL are one of the store, the end of a range belongs to it.
static const char* symbol_of(StrategyNumber strategy, bool is_shared) {
  static const char* const symbols[] = {"<", "<=", "=", ">=", ">"};
  if (is_shared && strategy == BTLessStrategyNumber) return symbols[1];
  if (is_shared && strategy == BTGreaterStrategyNumber) return symbols[3];
  return symbols[strategy - 1];
}

// Texts are ordered where the store's order is SQL's. A text that is cut in the store still has its
// first bytes, and a cut loses less than a character.
static bool append_text_literal(Words* words, StrategyNumber strategy, Datum value, Oid type) {
  const text* given =
      type == NAMEOID ? cstring_to_text(NameStr(*DatumGetName(value))) : DatumGetTextPP(value);
  const Size length = (Size)VARSIZE_ANY_EXHDR(given);
  const bool is_ordered = has_store_order(words->collation) && length + 4 <= words->room;
  if (strategy != BTEqualStrategyNumber && !is_ordered) return false;
  append_quoted(&words->text, stored_text(VARDATA_ANY(given), length, words->room));
  return true;
}

// Answers whether several values of SQL are this one in the store.
static bool is_shared(const Words* words, Datum value, Oid type) {
  bool is_edge = false;
  if (words->column->type == FARVEC_COLUMN_F64) return isinf(stored_number(value, type)) != 0;
  if (words->column->type == FARVEC_COLUMN_TIMESTAMP) stored_moment(value, type, &is_edge);
  return is_edge;
}

static bool has_literals(const Words* words, Oid type) {
  if (words->column->type == FARVEC_COLUMN_TIMESTAMP) return type == words->column->sql_type;
  return column_type(type == NAMEOID ? TEXTOID : type) == words->column->type;
}

static bool append_literal(Words* words, StrategyNumber strategy, Datum value, Oid type) {
  bool is_edge;
  words->terms++;
  switch (words->column->type) {
    case FARVEC_COLUMN_I64:
      appendStringInfo(&words->text, INT64_FORMAT, stored_integer(value, type));
      return true;
    case FARVEC_COLUMN_F64:
      append_number(&words->text, stored_number(value, type));
      return true;
    case FARVEC_COLUMN_BOOL:
      appendStringInfoString(&words->text, DatumGetBool(value) ? "true" : "false");
      return true;
    case FARVEC_COLUMN_TIMESTAMP:
      appendStringInfo(&words->text, INT64_FORMAT, stored_moment(value, type, &is_edge));
      return true;
    case FARVEC_COLUMN_STRING:
      return append_text_literal(words, strategy, value, type);
    default:
      return false;
  }
}

static bool append_comparison(Words* words, StrategyNumber strategy, Datum value, Oid type) {
  if (strategy < BTLessStrategyNumber || strategy > BTGreaterStrategyNumber) return false;
  if (!has_literals(words, type)) return false;
  appendStringInfo(&words->text, "%s %s ", words->column->name,
                   symbol_of(strategy, is_shared(words, value, type)));
  return append_literal(words, strategy, value, type);
}

// The elements of an array that are not null.
static Datum* elements_of(ArrayType* array, int* count) {
  int16 length;
  bool by_value;
  char align;
  Datum* elements;
  bool* nulls;
  int all;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &elements, &nulls, &all);
  *count = 0;
  for (int i = 0; i < all; i++) {
    if (!nulls[i]) elements[(*count)++] = elements[i];
  }
  return elements;
}

// Whether labels of the query are there. A set with too many labels has one that stands for all.
static bool append_labels(Words* words, StrategyNumber strategy, Datum value) {
  const char* name = words->column->name;
  ArrayType* array = DatumGetArrayTypeP(value);
  int count;
  if (ARR_ELEMTYPE(array) != TEXTOID) return false;
  const Datum* elements = elements_of(array, &count);
  words->terms += (uint32)count + 2;
  if (words->terms > MOST_TERMS) return false;
  appendStringInfo(&words->text, "(%s contains %s (", name, strategy == CONTAINS ? "all" : "any");
  for (int i = 0; i < count; i++) {
    if (i > 0) appendStringInfoString(&words->text, ", ");
    append_quoted(&words->text, stored_label(elements[i], words->room));
  }
  appendStringInfo(&words->text, ") or %s contains any ('%s'))", name, FARVEC_ANY_LABEL);
  return true;
}

// COLUMN OPERATOR ANY (array): a list, or one comparison for each element.
static bool append_any_of(Words* words, const ScanKeyData* key) {
  ArrayType* array = DatumGetArrayTypeP(key->sk_argument);
  const Oid type = ARR_ELEMTYPE(array);
  const bool is_list = key->sk_strategy == BTEqualStrategyNumber;
  int count;
  const Datum* elements = elements_of(array, &count);
  if (!has_literals(words, type) || words->terms + (uint32)count > MOST_TERMS) return false;
  if (is_list) appendStringInfo(&words->text, "%s in ", words->column->name);
  appendStringInfoString(&words->text, is_list || count > 0 ? "(" : "(false");
  for (int i = 0; i < count; i++) {
    if (i > 0) appendStringInfoString(&words->text, is_list ? ", " : " or ");
    const bool is_written = is_list ? append_literal(words, key->sk_strategy, elements[i], type)
                                    : append_comparison(words, key->sk_strategy, elements[i], type);
    if (!is_written || words->text.len > MOST_BYTES) return false;
  }
  appendStringInfoChar(&words->text, ')');
  return true;
}

static bool append_null_test(Words* words, bool is_null) {
  words->terms++;
  appendStringInfo(&words->text, "%s is %snull", words->column->name, is_null ? "" : "not ");
  return true;
}

static Oid type_of_argument(const Words* words, const ScanKeyData* key) {
  return OidIsValid(key->sk_subtype) ? key->sk_subtype : words->column->sql_type;
}

static bool is_null_test(const ScanKeyData* key) {
  return (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)) != 0;
}

// Texts that are equal under such a collation may differ in their bytes.
static bool has_words(const Words* words) {
  const int32 type = words->column->type;
  if (type != FARVEC_COLUMN_STRING && type != FARVEC_COLUMN_SET) return true;
  return OidIsValid(words->collation) && get_collation_isdeterministic(words->collation);
}

static bool append_key(Words* words, const ScanKeyData* key) {
  if (is_null_test(key)) return append_null_test(words, (key->sk_flags & SK_SEARCHNULL) != 0);
  if ((key->sk_flags & SK_ROW_HEADER) != 0 || !has_words(words)) return false;
  if ((key->sk_flags & SK_SEARCHARRAY) != 0) return append_any_of(words, key);
  if (words->column->type == FARVEC_COLUMN_SET) {
    return append_labels(words, key->sk_strategy, key->sk_argument);
  }
  return append_comparison(words, key->sk_strategy, key->sk_argument, type_of_argument(words, key));
}

// All operators of the classes are strict.
static bool is_of_null(const ScanKeyData* key) {
  return (key->sk_flags & SK_ISNULL) != 0 && !is_null_test(key);
}

Condition condition_of(const StoreColumns* columns, const ScanKeyData* keys, int count) {
  Condition condition = {0};
  StringInfoData all;
  uint32 terms = 0;
  initStringInfo(&all);
  for (int i = 0; i < count; i++) {
    condition.is_never = condition.is_never || is_of_null(&keys[i]);
    if (is_of_null(&keys[i]) || keys[i].sk_attno < 2) continue;
    Words words = {.column = &columns->columns[keys[i].sk_attno - 2],
                   .room = column_room(columns),
                   .collation = keys[i].sk_collation,
                   .terms = terms};
    initStringInfo(&words.text);
    if (append_key(&words, &keys[i]) && all.len + words.text.len < MOST_BYTES - 5) {
      appendStringInfo(&all, "%s%s", all.len == 0 ? "" : " and ", words.text.data);
      condition.handed++;
      terms = words.terms;
    }
    pfree(words.text.data);
  }
  condition.text = all.len == 0 ? NULL : all.data;
  return condition;
}
