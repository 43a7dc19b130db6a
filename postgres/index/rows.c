#include <postgres.h>

#include "postgres/index/rows.h"

#include <access/heapam.h>
#include <access/tableam.h>
#include <catalog/index.h>
#include <executor/executor.h>
#include <miscadmin.h>
#include <utils/guc.h>
#include <utils/memutils.h>
#include <utils/rel.h>
#include <utils/snapmgr.h>

struct RowReader {
  OpenIndex* index;
  IndexInfo* info;
  EState* state;
  TupleTableSlot* slot;
  IndexFetchTableData* fetch;
  ExprState* predicate;
  SnapshotData non_vacuumable;
  Snapshot snapshot;
  bool was_there;
  TupleList tuple;
  // What is set back in the end.
  Oid user;
  int security;
  int settings;
};

static void become_owner(RowReader* reader, Relation heap) {
  GetUserIdAndSecContext(&reader->user, &reader->security);
  SetUserIdAndSecContext(heap->rd_rel->relowner, reader->security | SECURITY_RESTRICTED_OPERATION);
  reader->settings = NewGUCNestLevel();
#if PG_VERSION_NUM >= 170000
  RestrictSearchPath();
#endif
}

RowReader* open_rows(OpenIndex* index, Relation heap, Snapshot snapshot) {
  RowReader* reader = palloc0(sizeof *reader);
  reader->index = index;
  reader->info = BuildIndexInfo(index->relation);
  reader->state = CreateExecutorState();
  reader->slot = table_slot_create(heap, NULL);
  reader->fetch = table_index_fetch_begin(heap);
  InitNonVacuumableSnapshot(reader->non_vacuumable, GlobalVisTestFor(heap));
  reader->snapshot = snapshot != NULL ? snapshot : &reader->non_vacuumable;
  make_tuples(&reader->tuple, &index->columns, 1);
  become_owner(reader, heap);
  reader->predicate = ExecPrepareQual(reader->info->ii_Predicate, reader->state);
  return reader;
}

void close_rows(RowReader* reader) {
  AtEOXact_GUC(false, reader->settings);
  SetUserIdAndSecContext(reader->user, reader->security);
  table_index_fetch_end(reader->fetch);
  ExecDropSingleTupleTableSlot(reader->slot);
  FreeExecutorState(reader->state);
  pfree(reader);
}

// What is done with the values of the index's columns.
typedef void (*UseValues)(RowReader* reader, const Datum* values, const bool* nulls,
                          void* argument);

// Answers false where the vector of the row in the slot is null.
static bool use_slot(RowReader* reader, UseValues use, void* argument) {
  ExprContext* context = GetPerTupleExprContext(reader->state);
  Datum values[INDEX_MAX_KEYS];
  bool nulls[INDEX_MAX_KEYS];
  context->ecxt_scantuple = reader->slot;
  const MemoryContext before = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
  FormIndexDatum(reader->info, reader->slot, reader->state, values, nulls);
  if (!nulls[0]) use(reader, values, nulls, argument);
  MemoryContextSwitchTo(before);
  ResetPerTupleExprContext(reader->state);
  return !nulls[0];
}

// Versions of a row that are one entry have the same vector; but before the index was made they may
// have had others. The last one counts.
static bool read_row(RowReader* reader, const StatusEntry* entry) {
  ItemPointerData tid;
  bool goes_on = false;
  bool all_dead;
  ItemPointerSet(&tid, entry->block, entry->offset);
  reader->was_there = false;
  do {
    const bool is_there = table_index_fetch_tuple(reader->fetch, &tid, reader->snapshot,
                                                  reader->slot, &goes_on, &all_dead);
    reader->was_there = reader->was_there || is_there;
    if (!is_there) break;
  } while (goes_on);
  return reader->was_there;
}

typedef struct ToWrite {
  void* to;
  double* length;
} ToWrite;

static void write_it(RowReader* reader, const Datum* values, const bool* nulls, void* argument) {
  const ToWrite* write = argument;
  *write->length = write_vector(values[0], &reader->index->meta.shape, write->to);
  forget_tuples(&reader->tuple);
  add_tuple(&reader->tuple, values + 1, nulls + 1);
}

bool read_vector(RowReader* reader, const StatusEntry* entry, void* to, double* length) {
  ToWrite write = {to, length};
  return read_row(reader, entry) && use_slot(reader, write_it, &write);
}

typedef struct ToCompare {
  ScanKey key;
  double* distance;
} ToCompare;

static void compare_it(RowReader* reader, const Datum* values, const bool* nulls, void* argument) {
  const ToCompare* compare = argument;
  (void)reader;
  (void)nulls;
  *compare->distance = DatumGetFloat8(FunctionCall2Coll(
      &compare->key->sk_func, compare->key->sk_collation, values[0], compare->key->sk_argument));
}

bool read_distance(RowReader* reader, const StatusEntry* entry, ScanKey key, double* distance) {
  ToCompare compare = {key, distance};
  return read_row(reader, entry) && use_slot(reader, compare_it, &compare);
}

const TupleList* row_tuple(const RowReader* reader) {
  return &reader->tuple;
}

const ItemPointerData* row_tid(const RowReader* reader) {
  return &reader->slot->tts_tid;
}

bool row_was_there(const RowReader* reader) {
  return reader->was_there;
}

bool is_indexed(RowReader* reader, TupleTableSlot* slot) {
  ExprContext* context = GetPerTupleExprContext(reader->state);
  context->ecxt_scantuple = slot;
  const bool is_true = ExecQual(reader->predicate, context);
  ResetPerTupleExprContext(reader->state);
  return is_true;
}
