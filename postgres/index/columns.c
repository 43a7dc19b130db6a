// Which columns an index has after its vector, and the classes of operators that they may have.
#include <postgres.h>

#include "postgres/index/columns.h"

#include <access/htup_details.h>
#include <catalog/pg_amop.h>
#include <catalog/pg_type.h>
#include <utils/builtins.h>
#include <utils/catcache.h>
#include <utils/rel.h>
#include <utils/syscache.h>

#include "postgres/index/index.h"

#define MOST_STRATEGY 7

int32 column_type(Oid sql_type) {
  switch (sql_type) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
      return FARVEC_COLUMN_I64;
    case FLOAT4OID:
    case FLOAT8OID:
      return FARVEC_COLUMN_F64;
    case BOOLOID:
      return FARVEC_COLUMN_BOOL;
    case DATEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return FARVEC_COLUMN_TIMESTAMP;
    case TEXTOID:
      return FARVEC_COLUMN_STRING;
    case TEXTARRAYOID:
      return FARVEC_COLUMN_SET;
    default:
      return 0;
  }
}

static const char* type_word(int32 type) {
  static const char* const words[] = {"",     "u64",       "i64",    "f64",
                                      "bool", "timestamp", "string", "set"};
  return words[type];
}

// Words of conditions cannot be names there.
static bool is_reserved(const char* name) {
  static const char* const words[] = {"id",       "and",     "or",     "not",     "in",  "is",
                                      "null",     "between", "true",   "false",   "any", "all",
                                      "contains", "prefix",  "vector", "distance"};
  for (size_t i = 0; i < lengthof(words); i++) {
    if (pg_strcasecmp(name, words[i]) == 0) return true;
  }
  return false;
}

static bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_taken(const StoreColumns* columns, const char* name) {
  for (uint32 i = 0; i < columns->count; i++) {
    if (strcmp(columns->columns[i].name, name) == 0) return true;
  }
  return false;
}

// Names of SQL may have any characters. What a store cannot have becomes `_`.
static void write_name(const StoreColumns* columns, const char* name, char* to) {
  Size length = 0;
  if (!is_letter(name[0])) to[length++] = '_';
  for (const char* byte = name; *byte != '\0' && length < FARVEC_COLUMN_NAME; byte++) {
    if (byte == name && !is_letter(*byte) && !(*byte >= '0' && *byte <= '9')) continue;
    to[length++] = is_letter(*byte) || (*byte >= '0' && *byte <= '9') ? *byte : '_';
  }
  to[length] = '\0';
  if (is_reserved(to)) strcpy(to + length, "_");
  for (uint32 i = 2; is_taken(columns, to); i++) {
    snprintf(to + Min(length, FARVEC_COLUMN_NAME - 4), 5, "_%u", i);
  }
}

static void refuse_column(Relation index, const char* name) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("column \"%s\" of index \"%s\" can be no filter", name,
                         RelationGetRelationName(index)),
                  errhint("The first column is the vector, and the others are numbers, texts, "
                          "booleans, times or arrays of texts.")));
}

void read_columns(Relation index, StoreColumns* columns) {
  const TupleDesc row = RelationGetDescr(index);
  const bool is_named = node_of(index) != NULL;  // the engine numbers them, as requests.h says
  columns->count = 0;
  for (int i = 1; i < IndexRelationGetNumberOfKeyAttributes(index); i++) {
    StoreColumn* column = &columns->columns[columns->count];
    const char* name = NameStr(TupleDescAttr(row, i)->attname);
    column->sql_type = index->rd_opcintype[i];
    column->type = column_type(column->sql_type);
    if (column->type == 0) refuse_column(index, name);
    if (is_named) {
      write_name(columns, name, column->name);
    } else {
      snprintf(column->name, sizeof column->name, "c%u", columns->count + 1);
    }
    columns->count++;
  }
}

void append_schema(StringInfo text, const StoreColumns* columns) {
  for (uint32 i = 0; i < columns->count; i++) {
    appendStringInfo(text, "%s%s: %s", i == 0 ? "" : ", ", columns->columns[i].name,
                     type_word(columns->columns[i].type));
  }
}

bool validate_filter_class(Oid family, Oid sql_type, const char* name) {
  CatCList* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
  bool valid = column_type(sql_type) != 0 && operators->n_members > 0;
  for (int i = 0; i < operators->n_members; i++) {
    const Form_pg_amop member = (Form_pg_amop)GETSTRUCT(&operators->members[i]->tuple);
    valid = valid && member->amoppurpose == AMOP_SEARCH && member->amopstrategy >= 1 &&
            member->amopstrategy <= MOST_STRATEGY;
  }
  if (!valid) {
    ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                   errmsg("operator class \"%s\" of access method farvec has other operators than "
                          "those of its filters",
                          name)));
  }
  ReleaseCatCacheList(operators);
  return valid;
}
