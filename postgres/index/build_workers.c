// Workers of a build: parallel processes that read the table and tell its rows to the store, each
// through a slot of its own.
#include <postgres.h>

#include <access/parallel.h>
#include <access/table.h>
#include <access/tableam.h>
#include <access/xact.h>
#include <catalog/index.h>
#include <commands/progress.h>
#include <miscadmin.h>
#include <optimizer/optimizer.h>
#include <optimizer/paths.h>
#include <optimizer/planner.h>
#include <storage/bufmgr.h>
#include <storage/condition_variable.h>
#include <storage/spin.h>
#include <tcop/tcopprot.h>
#include <utils/backend_progress.h>
#include <utils/backend_status.h>
#include <utils/rel.h>
#include <utils/snapmgr.h>
#include <utils/wait_event.h>

#include "postgres/index/build.h"
#include "postgres/index/deadlines.h"
#include "postgres/library.h"

#define KEY_SHARED UINT64CONST(0xFA2EC00000000001)
#define KEY_SCAN UINT64CONST(0xFA2EC00000000002)
#define KEY_TEXT UINT64CONST(0xFA2EC00000000003)

#define LOOK_MS 200                 // between two looks at how far workers are
#define LEAST_MEMORY_KB (32 << 10)  // for each process, as the planner has it

struct SharedBuild {
  Oid heap;
  Oid index;
  bool is_concurrent;
  int processes;  // workers and the one that has them
  pg_atomic_uint64 told;
  ConditionVariable ended;  // is signalled when a worker has read all that it was given
  slock_t lock;             // guards the members below
  int ends;                 // workers that have
  double scanned;           // rows of the table that workers have read
  double rows;              // that they have told
  bool has_broken_chain;
};

struct BuildTeam {
  ParallelContext* context;
  SharedBuild* shared;
  ParallelTableScanDesc scan;
  Snapshot snapshot;
  bool is_registered;
};

uint64 count_told(Build* build, uint64 rows) {
  if (build->shared == NULL) return (uint64)build->rows;
  return pg_atomic_add_fetch_u64(&build->shared->told, rows);
}

// ---- How many ----

// The planner sizes a table by what lies in it, and long vectors lie beside it. Each three times as
// much gets a worker more, as the planner does.
static int workers_for_toast(Relation heap, Relation index) {
  if (!OidIsValid(heap->rd_rel->reltoastrelid) || RelationUsesLocalBuffers(heap) ||
      RelationGetParallelWorkers(heap, -1) != -1 || RelationGetIndexExpressions(index) != NIL ||
      RelationGetIndexPredicate(index) != NIL) {
    return 0;
  }
  Relation toast = table_open(heap->rd_rel->reltoastrelid, AccessShareLock);
  const uint64 blocks = RelationGetNumberOfBlocks(toast);
  table_close(toast, AccessShareLock);
  const int most =
      Min(max_parallel_maintenance_workers, maintenance_work_mem / LEAST_MEMORY_KB - 1);
  int workers = 0;
  for (uint64 least = Max(min_parallel_table_scan_size, 1); workers < most && blocks >= least;
       least *= 3) {
    workers++;
  }
  return workers;
}

int workers_for(Relation heap, Relation index) {
  // That of TRUNCATE is empty.
  if (max_parallel_maintenance_workers == 0 || RelationGetNumberOfBlocks(heap) == 0) return 0;
  const int workers = plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
  return workers > 0 ? workers : workers_for_toast(heap, index);
}

// ---- The process that has workers ----

static Snapshot take_snapshot(BuildTeam* team, const IndexInfo* info) {
  if (!info->ii_Concurrent) return SnapshotAny;
  team->is_registered = true;
  return RegisterSnapshot(GetTransactionSnapshot());
}

static void put_text(BuildTeam* team) {
  if (debug_query_string == NULL) return;
  const Size bytes = strlen(debug_query_string) + 1;
  char* text = shm_toc_allocate(team->context->toc, bytes);
  memcpy(text, debug_query_string, bytes);
  shm_toc_insert(team->context->toc, KEY_TEXT, text);
}

static void estimate(BuildTeam* team, Relation heap) {
  shm_toc_estimator* estimator = &team->context->estimator;
  shm_toc_estimate_chunk(estimator, sizeof(SharedBuild));
  shm_toc_estimate_chunk(estimator, table_parallelscan_estimate(heap, team->snapshot));
  shm_toc_estimate_keys(estimator, 2);
  if (debug_query_string == NULL) return;
  shm_toc_estimate_chunk(estimator, strlen(debug_query_string) + 1);
  shm_toc_estimate_keys(estimator, 1);
}

static void fill_memory(BuildTeam* team, Relation heap, Relation index, const IndexInfo* info) {
  shm_toc* toc = team->context->toc;
  SharedBuild* shared = shm_toc_allocate(toc, sizeof *shared);
  memset(shared, 0, sizeof *shared);
  shared->heap = RelationGetRelid(heap);
  shared->index = RelationGetRelid(index);
  shared->is_concurrent = info->ii_Concurrent;
  pg_atomic_init_u64(&shared->told, 0);
  ConditionVariableInit(&shared->ended);
  SpinLockInit(&shared->lock);
  shm_toc_insert(toc, KEY_SHARED, shared);
  team->scan = shm_toc_allocate(toc, table_parallelscan_estimate(heap, team->snapshot));
  table_parallelscan_initialize(heap, team->scan, team->snapshot);
  shm_toc_insert(toc, KEY_SCAN, team->scan);
  put_text(team);
  team->shared = shared;
}

static void release(Build* build) {
  BuildTeam* team = build->team;
  build->team = NULL;
  build->shared = NULL;
  DestroyParallelContext(team->context);
  if (team->is_registered) UnregisterSnapshot(team->snapshot);
  ExitParallelMode();
}

// Begins workers. False: the server has none to give.
static bool begin_team(Build* build, Relation heap, const IndexInfo* info, int workers) {
  BuildTeam* team = palloc0(sizeof *team);
  EnterParallelMode();
  team->context = CreateParallelContext("farvec", "farvec_build_worker", workers);
  team->snapshot = take_snapshot(team, info);
  build->team = team;
  estimate(team, heap);
  InitializeParallelDSM(team->context);
  if (team->context->seg == NULL) return false;
  fill_memory(team, heap, build->index.relation, info);
  // It is read by workers when they begin.
  const bool takes_part = parallel_leader_participation;
  team->shared->processes = workers + (takes_part ? 1 : 0);
  LaunchParallelWorkers(team->context);
  if (team->context->nworkers_launched == 0) return false;
  build->shared = team->shared;
  WaitForParallelWorkersToAttach(team->context);
  ereport(DEBUG1, (errmsg("index \"%s\" is built with %d workers",
                          RelationGetRelationName(build->index.relation),
                          team->context->nworkers_launched)));
  return true;
}

static bool have_ended(const BuildTeam* team) {
  SpinLockAcquire(&team->shared->lock);
  const bool all = team->shared->ends == team->context->nworkers_launched;
  SpinLockRelease(&team->shared->lock);
  return all;
}

// An error of a worker comes with an interrupt, and ends the wait.
static void wait_for_team(const Build* build) {
  SharedBuild* shared = build->shared;
  while (!have_ended(build->team)) {
    ConditionVariableTimedSleep(&shared->ended, LOOK_MS, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
    pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
                                 (int64)pg_atomic_read_u64(&shared->told));
  }
  ConditionVariableCancelSleep();
  WaitForParallelWorkersToFinish(build->team->context);
}

double read_with_workers(Build* build, Relation heap, IndexInfo* info, int workers) {
  double scanned = 0;
  if (!begin_team(build, heap, info, workers)) {
    release(build);
    return -1;
  }
  const SharedBuild* shared = build->shared;
  if (parallel_leader_participation) {
    scanned = read_rows(build, heap, info, table_beginscan_parallel(heap, build->team->scan),
                        shared->processes);
  }
  wait_for_team(build);
  build->rows += shared->rows;
  scanned += shared->scanned;
  info->ii_BrokenHotChain = info->ii_BrokenHotChain || shared->has_broken_chain;
  release(build);
  return scanned;
}

void end_workers(Build* build) {
  BuildTeam* team = build->team;
  build->team = NULL;
  // An error may have ended a sleep in memory that goes now.
  ConditionVariableCancelSleep();
  // The end of the transaction leaves parallel mode, and lets the snapshot go.
  if (team != NULL && team->context != NULL) DestroyParallelContext(team->context);
}

// ---- A worker ----

static void say_what_was_read(const Build* build, const IndexInfo* info, double scanned) {
  SharedBuild* shared = build->shared;
  SpinLockAcquire(&shared->lock);
  shared->ends++;
  shared->scanned += scanned;
  shared->rows += build->rows;
  shared->has_broken_chain = shared->has_broken_chain || info->ii_BrokenHotChain;
  SpinLockRelease(&shared->lock);
  ConditionVariableSignal(&shared->ended);
}

static void read_part(SharedBuild* shared, ParallelTableScanDesc scan, Relation heap,
                      Relation index) {
  Build build = {.shared = shared};
  IndexInfo* info = BuildIndexInfo(index);
  info->ii_Concurrent = shared->is_concurrent;
  open_index(&build.index, index, FARVEC_BATCH_DEADLINE_MS);
  const double scanned =
      read_rows(&build, heap, info, table_beginscan_parallel(heap, scan), shared->processes);
  say_what_was_read(&build, info, scanned);
}

// Locks are those that the process has which began the worker.
void farvec_build_worker(dsm_segment* segment, shm_toc* toc) {
  (void)segment;
  SharedBuild* shared = shm_toc_lookup(toc, KEY_SHARED, false);
  const bool beside_changes = shared->is_concurrent;
  const LOCKMODE of_heap = beside_changes ? ShareUpdateExclusiveLock : ShareLock;
  const LOCKMODE of_index = beside_changes ? RowExclusiveLock : AccessExclusiveLock;
  debug_query_string = shm_toc_lookup(toc, KEY_TEXT, true);
  pgstat_report_activity(STATE_RUNNING, debug_query_string);
  Relation heap = table_open(shared->heap, of_heap);
  Relation index = index_open(shared->index, of_index);
  read_part(shared, shm_toc_lookup(toc, KEY_SCAN, false), heap, index);
  index_close(index, of_index);
  table_close(heap, of_heap);
}
