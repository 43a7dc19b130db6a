// This header has the columns of an index after its vector: filters. Their values go to the store
// with the vector, and conditions on them are handed to it.
//
// A store may have one value for several of SQL's: NaN is infinity there, times that have no ISO
// form are the first or the last one, and long texts are cut. Conditions know that, so that a row
// that meets one in SQL always meets it in the store. The executor looks at each row again.
#ifndef FARVEC_POSTGRES_INDEX_COLUMNS_H
#define FARVEC_POSTGRES_INDEX_COLUMNS_H

#include <postgres.h>

#include <access/skey.h>
#include <lib/stringinfo.h>
#include <utils/relcache.h>

#include "postgres/index/store.h"

// ---- Columns (columns.c) ----

// The store's type of a column whose class of operators is for this type; 0: there is no such
// class.
int32 column_type(Oid sql_type);

// Writes which columns an index has after the first. Ends with an error where one is no filter.
void read_columns(Relation index, StoreColumns* columns);

// Writes "price: i64, section: string", as a schema has it.
void append_schema(StringInfo text, const StoreColumns* columns);

// Answers whether a class of operators for this type of filters is sound. Says in a message why
// not.
bool validate_filter_class(Oid family, Oid sql_type, const char* name);

// ---- Values (tuples.c, texts.c) ----

// The most bytes that the text, or the labels, of one column have in a store.
Size column_room(const StoreColumns* columns);

// A text as stores have it: UTF-8, at most `most` bytes, equal for texts that are equal. In the
// current context, with a zero at its end.
char* stored_text(const char* bytes, Size length, Size most);
// Answers whether SQL's order of texts under a collation is the store's.
bool has_store_order(Oid collation);

// The text of an element of an array, and the label that stands for those that are too many.
#define FARVEC_ANY_LABEL "farvec: any"
char* stored_label(Datum text, Size most);

// Times in microseconds since 1970, within the years 1 to 9999; `is_edge`: it is for other times
// too.
int64 stored_moment(Datum value, Oid sql_type, bool* is_edge);
int64 stored_integer(Datum value, Oid sql_type);
// NaN is infinity.
double stored_number(Datum value, Oid sql_type);

// The values of rows that wait for the store.
typedef struct TupleList {
  const StoreColumns* columns;
  StringInfoData bytes;
  uint32* ends;
  size_t count;
  MemoryContext scratch;  // what one row needs
} TupleList;

// Room for `room` rows in the current context. `columns` have to live as long.
void make_tuples(TupleList* list, const StoreColumns* columns, size_t room);
// Adds a row. `values` and `nulls` begin with the column after the vector.
void add_tuple(TupleList* list, const Datum* values, const bool* nulls);
// Adds the last row of another list.
void add_last_tuple(TupleList* list, const TupleList* from);
void forget_tuples(TupleList* list);
void grow_tuples(TupleList* list, size_t room);
// Moves a row to the place of an earlier one; those between are lost. Rows are moved one after the
// other, and cut_tuples() follows, which says how many are left.
void move_tuple(TupleList* list, size_t from, size_t to);
void cut_tuples(TupleList* list, size_t count);
StoreTuples tuples_of(const TupleList* list);

// Answers whether the rows have taken as much memory as a batch may (maintenance_work_mem).
bool are_many(const TupleList* list);

static inline bool has_columns(const TupleList* list) {
  return list->columns->count > 0;
}

// ---- Conditions (condition.c) ----

typedef struct Condition {
  const char* text;  // NULL: no condition is handed down
  uint32 handed;     // how many keys it has
  bool is_never;     // no row can meet the keys
} Condition;

// What keys of a scan say of the columns after the vector.
Condition condition_of(const StoreColumns* columns, const ScanKeyData* keys, int count);

#endif
