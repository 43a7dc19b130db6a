// CREATE INDEX and REINDEX, and INSERT.
#include <postgres.h>

#include "postgres/index/build.h"

#include <access/htup_details.h>
#include <access/tableam.h>
#include <catalog/index.h>
#include <commands/progress.h>
#include <miscadmin.h>
#include <nodes/execnodes.h>
#include <storage/bufmgr.h>
#include <utils/backend_progress.h>
#include <utils/memutils.h>
#include <utils/rel.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/index.h"
#include "postgres/index/pending.h"
#include "postgres/shared.h"

#define MAX_BATCH 1000  // rows

size_t batch_rows(const StoreShape* shape) {
  const size_t room = (size_t)maintenance_work_mem * 1024 / 2;
  return Max(Min(room / vector_size(shape), MAX_BATCH), 1);
}

static void send_rows(Build* build) {
  const uint64 rows = build->delivery->count;
  send_in_build(build->delivery, &build->index);
  build->rows += (double)rows;
  const uint64 told = count_told(build, rows);
  if (build->shows) pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64)told);
}

static void add_to_build(Relation relation, ItemPointer tid, Datum* values, bool* nulls,
                         bool is_alive, void* state) {
  (void)relation;
  (void)is_alive;
  Build* build = state;
  const MemoryContext before = MemoryContextSwitchTo(build->row);
  add_row(build->delivery, values, nulls, tid);
  MemoryContextSwitchTo(before);
  MemoryContextReset(build->row);
  if (is_full(build->delivery) || are_many(&build->delivery->tuples)) send_rows(build);
}

double read_rows(Build* build, Relation heap, IndexInfo* info, TableScanDesc scan, int processes) {
  Relation index = build->index.relation;
  const size_t batch = Max(batch_rows(&build->index.meta.shape) / (size_t)processes, 1);
  build->delivery = make_delivery(index, batch);
  build->row = AllocSetContextCreate(CurrentMemoryContext, "farvec row", ALLOCSET_DEFAULT_SIZES);
  const double scanned =
      table_index_build_scan(heap, index, info, true, build->shows, add_to_build, build, scan);
  send_rows(build);
  MemoryContextDelete(build->row);
  return scanned;
}

// Waits until the store has made its index of the rows, where it waits for the last one.
static void build_in_store(OpenIndex* index) {
  uint64 done = 0;
  bool is_over = index->kind->build == NULL;
  pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FARVEC_PHASE_STORE);
  while (!is_over) {
    CHECK_FOR_INTERRUPTS();
    index->patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
    is_over = index->kind->build(index->store, &done, &index->patience);
    pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64)done);
  }
}

static void finish_store(Build* build) {
  OpenIndex* index = &build->index;
  build_in_store(index);
  const uint64 next = status_begin_catching_up(index->relation, false);
  index->patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
  if (index->kind->covers != NULL) {
    index->kind->covers(index->store, next, true, &index->patience);
  }
}

static IndexBuildResult* result_of(double heap_rows, double index_rows) {
  IndexBuildResult* result = palloc0(sizeof *result);
  result->heap_tuples = heap_rows;
  result->index_tuples = index_rows;
  return result;
}

static double fill_store(Build* build, Relation heap, IndexInfo* info) {
  const int workers = workers_for(heap, build->index.relation);
  build->index.kind->begin(build->index.store, true, &build->index.patience);
  double scanned = workers > 0 ? read_with_workers(build, heap, info, workers) : -1;
  if (scanned < 0) scanned = read_rows(build, heap, info, NULL, 1);
  finish_store(build);
  return scanned;
}

// A store would keep the rows of a build that failed in its memory until the worker finds that the
// index is gone.
static void drop_store(const OpenIndex* index) {
  const StoreIdentity identity = identity_of(index->relation, &index->meta);
  if (index->kind->drop != NULL) index->kind->drop(&identity, node_of(index->relation));
}

static IndexBuildResult* build_all(Relation heap, Relation index, IndexInfo* info) {
  Build build = {.shows = true};
  volatile double scanned = 0;
  open_index(&build.index, index, FARVEC_BATCH_DEADLINE_MS);
  PG_TRY();
  { scanned = fill_store(&build, heap, info); }
  PG_CATCH();
  {
    end_workers(&build);
    drop_store(&build.index);
    PG_RE_THROW();
  }
  PG_END_TRY();
  return result_of(scanned, build.rows);
}

IndexBuildResult* farvec_build(Relation heap, Relation index, IndexInfo* info) {
  const StoreShape shape = shape_of(index);
  if (!IsBinaryUpgrade) shared_state();
  store_kind(node_of(index));
  forget_kept_rows(index);
  status_create(index, MAIN_FORKNUM, &shape);
  // The pages of the old server come in place of these.
  if (IsBinaryUpgrade) return result_of(0, 0);
  return build_all(heap, index, info);
}

// The init fork of an unlogged index, which takes the place of its pages after a crash.
void farvec_build_empty(Relation index) {
  const StoreShape shape = shape_of(index);
  status_create(index, INIT_FORKNUM, &shape);
}

// What the row's own header says of it.
typedef struct {
  // INSERT ... ON CONFLICT takes such a row back when another one was faster, and any row may then
  // have its place.
  bool is_speculative;
  // It is a new version of another row.
  bool is_update;
} Version;

static Version version_of(Relation heap, ItemPointer tid) {
  Version version = {.is_speculative = true};
  const Buffer buffer = ReadBuffer(heap, ItemPointerGetBlockNumber(tid));
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  Page page = BufferGetPage(buffer);
  const OffsetNumber offset = ItemPointerGetOffsetNumber(tid);
  if (offset <= PageGetMaxOffsetNumber(page) && ItemIdIsNormal(PageGetItemId(page, offset))) {
    const HeapTupleHeader tuple = (HeapTupleHeader)PageGetItem(page, PageGetItemId(page, offset));
    version.is_speculative = HeapTupleHeaderIsSpeculative(tuple);
    version.is_update = (tuple->t_infomask & HEAP_UPDATED) != 0;
  }
  UnlockReleaseBuffer(buffer);
  return version;
}

// Its vector is probably the former version's. Where the index has one column, an update of it
// changes the vector; where it has filters, the server does not say which column is another one.
static bool is_again(Relation index, const Version* version, bool unchanged) {
  const bool has_filters = IndexRelationGetNumberOfKeyAttributes(index) > 1;
  return unchanged || (has_filters && version->is_update);
}

bool farvec_insert_row(Relation index, Datum* values, bool* nulls, ItemPointer tid, Relation heap,
                       IndexUniqueCheck unique, bool unchanged, IndexInfo* info) {
  (void)unique;
  shared_state();
  const bool is_heap = heap->rd_tableam == GetHeapamTableAmRoutine();
  const Version version = is_heap ? version_of(heap, tid) : (Version){.is_speculative = true};
  keep_row(index, values, nulls, tid, is_again(index, &version, unchanged));
  // Rows of other transactions, which CREATE INDEX CONCURRENTLY inserts, do not wait for the end of
  // this one.
  if (info->ii_Concurrent || version.is_speculative) send_kept_rows(index);
  return false;
}
