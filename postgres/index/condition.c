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

static void begin_comparison(Words* words, StrategyNumber strategy, bool is_shared) {
  appendStringInfo(&words->text, "%s %s ", words->column->name, symbol_of(strategy, is_shared));
}

static bool append_text_comparison(Words* words, StrategyNumber strategy, Datum value, Oid type) {
  const text* given =
      type == NAMEOID ? cstring_to_text(NameStr(*DatumGetName(value))) : DatumGetTextPP(value);
  const Size length = (Size)VARSIZE_ANY_EXHDR(given);
  if (strategy != BTEqualStrategyNumber) {
    // A text that is cut in the store still has its first bytes. A cut loses less than a character.
    const bool is_ordered = has_store_order(words->collation) && length + 4 <= words->room;
    if (!is_ordered) return false;
  }
  begin_comparison(words, strategy, false);
  append_quoted(&words->text, stored_text(VARDATA_ANY(given), length, words->room));
  return true;
}

static void append_moment(Words* words, StrategyNumber strategy, Datum value, Oid type) {
  bool is_edge;
  const int64 moment = stored_moment(value, type, &is_edge);
  begin_comparison(words, strategy, is_edge);
  appendStringInfo(&words->text, INT64_FORMAT, moment);
}

static bool append_comparison(Words* words, StrategyNumber strategy, Datum value, Oid type) {
  words->terms++;
  if (strategy < BTLessStrategyNumber || strategy > BTGreaterStrategyNumber) return false;
  if (column_type(type == NAMEOID ? TEXTOID : type) != words->column->type) return false;
  switch (words->column->type) {
    case FARVEC_COLUMN_I64:
      begin_comparison(words, strategy, false);
      appendStringInfo(&words->text, INT64_FORMAT, stored_integer(value, type));
      return true;
    case FARVEC_COLUMN_F64:
      begin_comparison(words, strategy, isinf(stored_number(value, type)) != 0);
      append_number(&words->text, stored_number(value, type));
      return true;
    case FARVEC_COLUMN_BOOL:
      begin_comparison(words, strategy, false);
      appendStringInfoString(&words->text, DatumGetBool(value) ? "true" : "false");
      return true;
    case FARVEC_COLUMN_TIMESTAMP:
      if (type != words->column->sql_type) return false;
      append_moment(words, strategy, value, type);
      return true;
    case FARVEC_COLUMN_STRING:
      return append_text_comparison(words, strategy, value, type);
    default:
      return false;
  }
}

// Whether labels of the query are there. A set with too many labels has one that stands for all.
static bool append_labels(Words* words, StrategyNumber strategy, Datum value) {
  const char* name = words->column->name;
  ArrayType* array = DatumGetArrayTypeP(value);
  Datum* elements;
  bool* nulls;
  int count;
  if (ARR_ELEMTYPE(array) != TEXTOID) return false;
  deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
  words->terms += (uint32)count + 2;
  if (words->terms > MOST_TERMS) return false;
  appendStringInfo(&words->text, "(%s contains %s (", name, strategy == CONTAINS ? "all" : "any");
  const char* comma = "";
  for (int i = 0; i < count; i++) {
    if (nulls[i]) continue;
    appendStringInfoString(&words->text, comma);
    append_quoted(&words->text, stored_label(elements[i], words->room));
    comma = ", ";
  }
  appendStringInfo(&words->text, ") or %s contains any ('%s'))", name, FARVEC_ANY_LABEL);
  return true;
}

// COLUMN OPERATOR ANY (array): one comparison for each element.
static bool append_any_of(Words* words, const ScanKeyData* key) {
  ArrayType* array = DatumGetArrayTypeP(key->sk_argument);
  const Oid type = ARR_ELEMTYPE(array);
  int16 length;
  bool by_value;
  char align;
  Datum* elements;
  bool* nulls;
  int count;
  get_typlenbyvalalign(type, &length, &by_value, &align);
  deconstruct_array(array, type, length, by_value, align, &elements, &nulls, &count);
  if (words->terms + (uint32)count > MOST_TERMS) return false;
  const char* before = "(";
  for (int i = 0; i < count; i++) {
    if (nulls[i]) continue;
    appendStringInfoString(&words->text, before);
    if (!append_comparison(words, key->sk_strategy, elements[i], type)) return false;
    if (words->text.len > MOST_BYTES) return false;
    before = " or ";
  }
  appendStringInfoString(&words->text, before[0] == '(' ? "false" : ")");
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
