// Catching up: a store is told what it may lack, from the rows of the table.
#include <postgres.h>

#include <access/genam.h>
#include <access/tableam.h>
#include <access/xlog.h>
#include <catalog/index.h>
#include <executor/executor.h>
#include <miscadmin.h>
#include <storage/lmgr.h>
#include <utils/guc.h>
#include <utils/memutils.h>
#include <utils/rel.h>
#include <utils/timestamp.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/index.h"
#include "postgres/index/rows.h"

#define TOLD_FROM_MS 1000  // catching up that takes longer is in the log

// One backend catches up at a time, and the others wait for it. A lock of another tag than that of
// deliveries, which go on meanwhile.
#define CATCH_UP_LOCK 2

typedef struct CatchUp {
  OpenIndex* index;
  Relation heap;
  uint64 from;   // smallest VID that may be missing
  uint64 until;  // greater than each VID that was given out
  RowReader* rows;
  size_t count;
  size_t room;
  uint64* vids;
  char* vectors;
  TupleList tuples;
  uint64 told;
} CatchUp;

static void look_again(OpenIndex* index, StoreState* state) {
  index->meta = status_meta(index->relation);
  index->patience = patience_for(FARVEC_SCAN_DEADLINE_MS);
  *state = index->kind->state(index->store, &index->patience);
}

static bool is_complete(const OpenIndex* index, const StoreState* state) {
  if (state->foreign) return false;
  if (!RecoveryInProgress()) return state->ready && index->meta.lacks_from == kNoVid;
  // What the primary's store lacks does not matter to a store of the standby's own.
  if (index->kind->is_shared) return index->meta.lacks_from == kNoVid;
  return status_begin_catching_up(index->relation, false) <= state->covered;
}

static void refuse_on_standby(const OpenIndex* index) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the compute node lacks rows of index \"%s\"",
                         RelationGetRelationName(index->relation)),
                  errhint("A search on the primary tells them to the node.")));
}

// Rows that vacuum removed meanwhile were perhaps told after vacuum erased them: they are erased
// again.
static void erase_removed(CatchUp* work) {
  size_t removed = 0;
  StatusEntry entry;
  for (size_t i = 0; i < work->count; i++) {
    if (!status_find(work->index->relation, work->vids[i], &entry)) {
      work->vids[removed++] = work->vids[i];
    }
  }
  farvec_error error;
  if (removed == 0) return;
  if (!work->index->kind->erase(work->index->store, work->vids, removed, &work->index->patience,
                                &error)) {
    raise_store_error(&error, node_of(work->index->relation), &work->index->patience);
  }
}

static void tell_batch(CatchUp* work) {
  OpenIndex* index = work->index;
  farvec_error error = {0};
  if (work->count == 0) return;
  index->patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
  if (!index->kind->insert(index->store, work->vids, work->vectors, tuples_of(&work->tuples),
                           work->count, &index->patience, &error)) {
    raise_store_error(&error, node_of(index->relation), &index->patience);
  }
  erase_removed(work);
  work->told += work->count;
  work->count = 0;
  forget_tuples(&work->tuples);
}

static void add_entry(CatchUp* work, const StatusEntry* entry, uint64 vid) {
  if (!status_is_live(entry) || (entry->flags & FARVEC_STORELESS) != 0) return;
  if (vid < work->from || vid >= work->until) return;
  const Size bytes = vector_size(&work->index->meta.shape);
  double length;
  if (!read_vector(work->rows, entry, work->vectors + work->count * bytes, &length)) return;
  add_last_tuple(&work->tuples, row_tuple(work->rows));
  work->vids[work->count++] = vid;
  if (work->count == work->room || are_many(&work->tuples)) tell_batch(work);
}

static bool has_any(const CatchUp* work, const StatusPage* page) {
  return page->used > 0 && vid_of(page->generation, page->block, 0) < work->until &&
         vid_of(page->generation, page->block, page->used - 1) >= work->from;
}

static void tell_all(CatchUp* work) {
  const BlockNumber blocks = status_blocks(work->index->relation);
  StatusPage* page = palloc(sizeof *page);
  for (BlockNumber block = 1; block < blocks; block++) {
    CHECK_FOR_INTERRUPTS();
    status_read(work->index->relation, block, NULL, page);
    if (!has_any(work, page)) continue;
    for (uint32 i = 0; i < page->used; i++) {
      add_entry(work, &page->entries[i], vid_of(page->generation, block, i));
    }
  }
  tell_batch(work);
  pfree(page);
}

// Finds out what may be missing. No row is on its way to the store at that moment.
static void look_what_lacks(CatchUp* work, StoreState* state) {
  OpenIndex* index = work->index;
  const bool writes = !RecoveryInProgress();
  lock_delivery(index->relation, ExclusiveLock);
  if (state->foreign) {
    index->patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
    index->kind->begin(index->store, false, &index->patience);
    state->foreign = false;
    state->covered = 0;
  }
  work->until = status_begin_catching_up(index->relation, writes);
  work->from =
      writes ? Min(state->covered, status_meta(index->relation).lacks_from) : state->covered;
  unlock_delivery(index->relation, ExclusiveLock);
}

static void say_it_is_done(CatchUp* work) {
  OpenIndex* index = work->index;
  const bool is_primary = !RecoveryInProgress();
  if (is_primary) status_caught_up(index->relation);
  index->patience = patience_for(FARVEC_SCAN_DEADLINE_MS);
  if (index->kind->covers != NULL) {
    index->kind->covers(index->store, work->until, is_primary, &index->patience);
  }
}

static void log_it(const CatchUp* work, TimestampTz began) {
  if (!TimestampDifferenceExceeds(began, GetCurrentTimestamp(), TOLD_FROM_MS)) return;
  ereport(LOG, (errmsg("index \"%s\" has told " UINT64_FORMAT " rows to its store again, in %ld ms",
                       RelationGetRelationName(work->index->relation), work->told,
                       TimestampDifferenceMilliseconds(began, GetCurrentTimestamp()))));
}

static void catch_up(OpenIndex* index, Relation heap, StoreState* state) {
  const TimestampTz began = GetCurrentTimestamp();
  CatchUp work = {.index = index, .heap = heap, .room = batch_rows(&index->meta.shape)};
  work.vids = palloc(work.room * sizeof(uint64));
  work.vectors = palloc_extended(work.room * vector_size(&index->meta.shape), MCXT_ALLOC_HUGE);
  make_tuples(&work.tuples, &index->columns, work.room);
  work.rows = open_rows(index, heap, NULL);
  do {
    CHECK_FOR_INTERRUPTS();
    look_what_lacks(&work, state);
    tell_all(&work);
    say_it_is_done(&work);
    look_again(index, state);
  } while (!is_complete(index, state));
  close_rows(work.rows);
  log_it(&work, began);
  pfree(work.vectors);
  pfree(work.vids);
}

bool was_complete(const OpenIndex* index) {
  return index->kind->was_ready != NULL && !RecoveryInProgress() &&
         index->meta.lacks_from == kNoVid && index->kind->was_ready(index->store);
}

void ensure_complete(OpenIndex* index, Relation heap) {
  StoreState state = index->kind->state(index->store, &index->patience);
  if (is_complete(index, &state)) return;
  if (RecoveryInProgress() && index->kind->is_shared) refuse_on_standby(index);
  ItemPointerData tag = lock_tag(CATCH_UP_LOCK);
  LockTuple(index->relation, &tag, ExclusiveLock);
  look_again(index, &state);
  if (!is_complete(index, &state)) catch_up(index, heap, &state);
  UnlockTuple(index->relation, &tag, ExclusiveLock);
}
