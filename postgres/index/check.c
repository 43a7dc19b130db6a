// farvec_check(): compares an index with its table and its store.
#include <postgres.h>

#include <access/genam.h>
#include <access/table.h>
#include <access/tableam.h>
#include <catalog/index.h>
#include <executor/executor.h>
#include <fmgr.h>
#include <math.h>
#include <miscadmin.h>
#include <utils/hsearch.h>
#include <utils/memutils.h>
#include <utils/rel.h>
#include <utils/snapmgr.h>

#include "postgres/half.h"
#include "postgres/index/deadlines.h"
#include "postgres/index/index.h"
#include "postgres/index/pending.h"
#include "postgres/index/report.h"
#include "postgres/index/rows.h"

PG_FUNCTION_INFO_V1(farvec_check);

// A row that the snapshot sees and an entry names.
typedef struct SeenRow {
  ItemPointerData tid;
  uint16 entries;
  bool in_table;
} SeenRow;

typedef struct Check {
  OpenIndex index;
  Relation heap;
  RowReader* rows;
  HTAB* seen;
  size_t count;  // waiting to be compared
  size_t room;
  uint64* vids;
  TupleList tuples;
  bool* same;
  char* vectors;  // the table's
  char* stored;   // the store's
  bool* found;
  // What the answer says.
  uint64 in_table;
  uint64 entries;    // live ones
  uint64 compared;   // with the store
  uint64 without;    // rows of the table that no entry names
  uint64 twice;      // rows that two entries name
  uint64 needless;   // rows that an entry names and the index should not have
  uint64 misjudged;  // nulls and zero vectors that are not marked so, or others that are
  uint64 not_stored;
  uint64 differing;
  uint64 differing_values;  // in columns after the vector
} Check;

static double element_of(const void* vector, const StoreShape* shape, uint32 i) {
  if (shape->type == FARVEC_F32) return (double)((const float*)vector)[i];
  return (double)float_of_finite_half(((const uint16*)vector)[i]);
}

// Stores of cosine keep unit vectors.
static double scale_of(const void* vector, const StoreShape* shape) {
  if (shape->metric != FARVEC_COSINE) return 1;
  double squares = 0;
  for (uint32 i = 0; i < shape->dimension; i++) {
    squares += element_of(vector, shape, i) * element_of(vector, shape, i);
  }
  return 1 / sqrt(squares);
}

static bool is_equal(const void* left, const void* right, const StoreShape* shape) {
  if (shape->type == FARVEC_B1) return memcmp(left, right, vector_size(shape)) == 0;
  const double allowed = shape->metric != FARVEC_COSINE ? 0
                         : shape->type == FARVEC_F32    ? 1e-5
                                                        : 2e-3;
  const double left_scale = scale_of(left, shape);
  const double right_scale = scale_of(right, shape);
  for (uint32 i = 0; i < shape->dimension; i++) {
    const double difference =
        element_of(left, shape, i) * left_scale - element_of(right, shape, i) * right_scale;
    if (!(fabs(difference) <= allowed)) return false;
  }
  return true;
}

static void compare_values(Check* check) {
  OpenIndex* index = &check->index;
  if (!has_columns(&check->tuples) || index->kind->compare == NULL) return;
  index->patience = patience_for(FARVEC_SCAN_DEADLINE_MS);
  index->kind->compare(index->store, check->vids, tuples_of(&check->tuples), check->count,
                       check->same, &index->patience);
  for (size_t i = 0; i < check->count; i++) check->differing_values += !check->same[i];
}

static void compare_batch(Check* check) {
  OpenIndex* index = &check->index;
  if (check->count == 0 || index->kind->get == NULL) return;
  const Size bytes = vector_size(&index->meta.shape);
  index->patience = patience_for(FARVEC_SCAN_DEADLINE_MS);
  index->kind->get(index->store, check->vids, check->count, check->found, check->stored,
                   &index->patience);
  for (size_t i = 0; i < check->count; i++) {
    if (!check->found[i]) {
      check->not_stored++;
    } else if (!is_equal(check->vectors + i * bytes, check->stored + i * bytes,
                         &index->meta.shape)) {
      check->differing++;
    }
  }
  compare_values(check);
  forget_tuples(&check->tuples);
  check->compared += check->count;
  check->count = 0;
}

static void note_seen(Check* check) {
  bool found;
  SeenRow* row = hash_search(check->seen, row_tid(check->rows), HASH_ENTER, &found);
  if (!found) {
    row->entries = 0;
    row->in_table = false;
  }
  if (row->entries == 1) check->twice++;
  if (row->entries < 2) row->entries++;
}

static void check_entry(Check* check, const StatusEntry* entry, uint64 vid) {
  const Size bytes = vector_size(&check->index.meta.shape);
  if (!status_is_live(entry)) return;
  check->entries++;
  double length = 0;
  const bool has_vector =
      read_vector(check->rows, entry, check->vectors + check->count * bytes, &length);
  if (!row_was_there(check->rows)) return;
  note_seen(check);
  const uint32 expected =
      has_vector ? kind_of_vector(&check->index.meta.shape, length) : FARVEC_NULL;
  if ((entry->flags & FARVEC_STORELESS) != expected) check->misjudged++;
  if (expected != 0) return;
  add_last_tuple(&check->tuples, row_tuple(check->rows));
  check->vids[check->count++] = vid;
  if (check->count == check->room) compare_batch(check);
}

static void check_entries(Check* check) {
  const BlockNumber blocks = status_blocks(check->index.relation);
  StatusPage* page = palloc(sizeof *page);
  for (BlockNumber block = 1; block < blocks; block++) {
    CHECK_FOR_INTERRUPTS();
    status_read(check->index.relation, block, NULL, page);
    for (uint32 i = 0; i < page->used; i++) {
      check_entry(check, &page->entries[i], vid_of(page->generation, block, i));
    }
  }
  compare_batch(check);
  pfree(page);
}

static void check_table(Check* check, Snapshot snapshot) {
  TupleTableSlot* slot = table_slot_create(check->heap, NULL);
  TableScanDesc scan = table_beginscan(check->heap, snapshot, 0, NULL);
  while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
    CHECK_FOR_INTERRUPTS();
    if (!is_indexed(check->rows, slot)) continue;
    check->in_table++;
    SeenRow* row = hash_search(check->seen, &slot->tts_tid, HASH_FIND, NULL);
    if (row == NULL) {
      check->without++;
    } else {
      row->in_table = true;
    }
  }
  table_endscan(scan);
  ExecDropSingleTupleTableSlot(slot);
}

static void count_needless(Check* check) {
  HASH_SEQ_STATUS status;
  const SeenRow* row;
  hash_seq_init(&status, check->seen);
  while ((row = hash_seq_search(&status)) != NULL) check->needless += !row->in_table;
}

static void make_room(Check* check) {
  const StoreShape* shape = &check->index.meta.shape;
  HASHCTL control = {.keysize = sizeof(ItemPointerData),
                     .entrysize = sizeof(SeenRow),
                     .hcxt = CurrentMemoryContext};
  check->seen =
      hash_create("farvec seen rows", 1024, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  check->room = batch_rows(shape);
  check->vids = palloc(check->room * sizeof(uint64));
  check->found = palloc0(check->room * sizeof(bool));
  check->same = palloc0(check->room * sizeof(bool));
  make_tuples(&check->tuples, &check->index.columns, check->room);
  check->vectors = palloc_extended(check->room * vector_size(shape), MCXT_ALLOC_HUGE);
  check->stored = palloc_extended(check->room * vector_size(shape), MCXT_ALLOC_HUGE);
}

static Datum answer_of(const Check* check) {
  StringInfoData text;
  const bool is_sound = check->without + check->twice + check->needless + check->misjudged +
                            check->not_stored + check->differing + check->differing_values ==
                        0;
  initStringInfo(&text);
  appendStringInfo(&text,
                   "{\"sound\": %s, \"rows\": " UINT64_FORMAT ", \"entries\": " UINT64_FORMAT
                   ", \"compared\": " UINT64_FORMAT ", \"rows_without_entry\": " UINT64_FORMAT
                   ", \"rows_with_two_entries\": " UINT64_FORMAT
                   ", \"rows_that_should_have_none\": " UINT64_FORMAT
                   ", \"wrong_flags\": " UINT64_FORMAT ", \"not_in_store\": " UINT64_FORMAT
                   ", \"other_in_store\": " UINT64_FORMAT
                   ", \"other_values_in_store\": " UINT64_FORMAT "}",
                   is_sound ? "true" : "false", check->in_table, check->entries, check->compared,
                   check->without, check->twice, check->needless, check->misjudged,
                   check->not_stored, check->differing, check->differing_values);
  return json_datum(&text);
}

// The store catches up first, as it does before a scan. Only then is it compared.
Datum farvec_check(PG_FUNCTION_ARGS) {
  const Oid oid = PG_GETARG_OID(0);
  Check* check = palloc0(sizeof *check);
  Relation index = open_farvec_index(oid);
  check->heap = table_open(IndexGetRelation(oid, false), AccessShareLock);
  send_kept_rows(index);
  open_index(&check->index, index, FARVEC_SCAN_DEADLINE_MS);
  ensure_complete(&check->index, check->heap);
  make_room(check);
  const Snapshot snapshot = GetActiveSnapshot();
  check->rows = open_rows(&check->index, check->heap, snapshot);
  check_entries(check);
  check_table(check, snapshot);
  close_rows(check->rows);
  count_needless(check);
  table_close(check->heap, AccessShareLock);
  index_close(index, AccessShareLock);
  PG_RETURN_DATUM(answer_of(check));
}
