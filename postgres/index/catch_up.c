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
#include "postgres/index/missing.h"

// Catching up that takes longer, or tells more rows, is in the log.
#define LOGGED_FROM_MS 100
#define LOGGED_FROM_ROWS 1000

// One backend catches up at a time, and the others wait for it. A lock of another tag than that of
// deliveries, which go on meanwhile.
#define CATCH_UP_LOCK 2

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

// No other pass has it, also of a backend that had this one's process number.
static uint64 number_of_pass(void) {
  return (uint64)GetCurrentTimestamp() ^ (uint64)MyProcPid << 40;
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
  work->pass = (StorePass){.until = status_begin_catching_up(index->relation, writes),
                           .number = number_of_pass()};
  work->pass.from =
      writes ? Min(state->covered, status_meta(index->relation).lacks_from) : state->covered;
  unlock_delivery(index->relation, ExclusiveLock);
}

static void say_it_is_done(CatchUp* work) {
  OpenIndex* index = work->index;
  const bool is_primary = !RecoveryInProgress();
  if (is_primary) status_caught_up(index->relation);
  index->patience = patience_for(FARVEC_SCAN_DEADLINE_MS);
  if (index->kind->covers != NULL) {
    index->kind->covers(index->store, work->pass.until, is_primary, &index->patience);
  }
}

static void log_it(const CatchUp* work) {
  double ms = 0;
  for (int phase = 0; phase < kPhases; phase++) ms += work->ms[phase];
  if (ms < LOGGED_FROM_MS && work->told < LOGGED_FROM_ROWS) return;
  ereport(
      LOG,
      (errmsg(
          "index \"%s\" has caught up in %.1f ms: its store was asked in %.1f ms, " UINT64_FORMAT
          " pages were read in %.1f ms and compared in %.1f ms, " UINT64_FORMAT
          " rows (" UINT64_FORMAT " bytes of vectors) were read in %.1f ms and told in %.1f "
          "ms",
          RelationGetRelationName(work->index->relation), ms, work->ms[kOpening], work->pages,
          work->ms[kPages], work->ms[kComparing], work->told,
          work->told * (uint64)vector_size(&work->index->meta.shape), work->ms[kRows],
          work->ms[kTelling])));
}

static void open_work(CatchUp* work) {
  OpenIndex* index = work->index;
  work->room = batch_rows(&index->meta.shape);
  if (index->kind->rows_at_once != NULL) {
    work->room = Min(work->room, index->kind->rows_at_once(index->store));
  }
  work->vids = palloc(work->room * sizeof(uint64));
  work->told_vids = palloc(work->room * sizeof(uint64));
  work->vectors = palloc_extended(work->room * vector_size(&index->meta.shape), MCXT_ALLOC_HUGE);
  work->page = palloc(sizeof *work->page);
  make_tuples(&work->tuples, &index->columns, work->room);
  work->reader = open_rows(index, work->heap, NULL);
}

static void close_work(CatchUp* work) {
  close_rows(work->reader);
  pfree(work->page);
  pfree(work->vectors);
  pfree(work->told_vids);
  pfree(work->vids);
}

static void catch_up(CatchUp* work, StoreState* state) {
  OpenIndex* index = work->index;
  open_work(work);
  PG_TRY();
  {
    do {
      CHECK_FOR_INTERRUPTS();
      look_what_lacks(work, state);
      tell_what_lacks(work);
      say_it_is_done(work);
      look_again(index, state);
    } while (!is_complete(index, state));
  }
  PG_CATCH();
  {
    if (index->kind->forget_told != NULL) index->kind->forget_told(index->store);
    PG_RE_THROW();
  }
  PG_END_TRY();
  close_work(work);
  log_it(work);
}

bool was_complete(const OpenIndex* index) {
  return index->kind->was_ready != NULL && !RecoveryInProgress() &&
         index->meta.lacks_from == kNoVid && index->kind->was_ready(index->store);
}

void ensure_complete(OpenIndex* index, Relation heap) {
  CatchUp work = {.index = index, .heap = heap};
  INSTR_TIME_SET_CURRENT(work.last);
  StoreState state = index->kind->state(index->store, &index->patience);
  end_phase(&work, kOpening);
  if (is_complete(index, &state)) return;
  if (RecoveryInProgress() && index->kind->is_shared) refuse_on_standby(index);
  ItemPointerData tag = lock_tag(CATCH_UP_LOCK);
  LockTuple(index->relation, &tag, ExclusiveLock);
  look_again(index, &state);
  if (!is_complete(index, &state)) catch_up(&work, &state);
  UnlockTuple(index->relation, &tag, ExclusiveLock);
}
