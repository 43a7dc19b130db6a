// Scans: rows in the order of their distances.
#include <postgres.h>

#include "postgres/index/scan.h"

#include <access/genam.h>
#include <math.h>
#include <miscadmin.h>
#include <pgstat.h>
#include <storage/bufmgr.h>
#include <utils/memutils.h>
#include <utils/rel.h>
#include <utils/snapmgr.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/pending.h"

// LIMIT 10 takes ten rows whose distances are true, and else 11 and those that are nearly as near
// as the last one.
#define FIRST_TRUE_BATCH 10
#define FIRST_BATCH 20
#define LAST_BATCH 2000

ScanReport last_scan;

// What an IndexScanDesc has of ours.
typedef struct ScanRuns {
  FarvecScan* now;   // NULL: its first row was not asked for yet
  ScanReport ended;  // what the runs before it did
} ScanRuns;

IndexScanDesc farvec_begin_scan(Relation index, int keys, int order_bys) {
  IndexScanDesc scan = RelationGetIndexScan(index, keys, order_bys);
  scan->opaque = palloc0(sizeof(ScanRuns));
  // The executor reads them after each row.
  if (order_bys > 0) {
    scan->xs_orderbyvals = palloc0(sizeof(Datum) * (Size)order_bys);
    scan->xs_orderbynulls = palloc0(sizeof(bool) * (Size)order_bys);
  }
  return scan;
}

static void add_report(ScanReport* sum, const ScanReport* one) {
  const uint64 before = sum->counts.matches;
  const bool is_first = !OidIsValid(sum->index);
  sum->index = one->index;
  sum->batches += one->batches;
  sum->found += one->found;
  sum->dead += one->dead;
  sum->rest += one->rest;
  sum->nulls += one->nulls;
  sum->keys = one->keys;
  sum->handed = one->handed;
  sum->counts.hops += one->counts.hops;
  sum->counts.reads += one->counts.reads;
  sum->counts.bytes += one->counts.bytes;
  sum->counts.estimates += one->counts.estimates;
  sum->counts.distances += one->counts.distances;
  sum->counts.walks += one->counts.walks;
  sum->counts.scans += one->counts.scans;
  const bool is_known = one->counts.matches != kNotKnown && (is_first || before != kNotKnown);
  sum->counts.matches = is_known ? before + one->counts.matches : kNotKnown;
}

ScanReport report_of_scan(IndexScanDesc scan) {
  const ScanRuns* runs = scan->opaque;
  ScanReport sum = runs->ended;
  if (runs->now != NULL) add_report(&sum, &runs->now->report);
  return sum;
}

static void end_run(IndexScanDesc scan) {
  ScanRuns* runs = scan->opaque;
  FarvecScan* own = runs->now;
  runs->now = NULL;
  if (own == NULL) return;
  last_scan = own->report;
  add_report(&runs->ended, &own->report);
  end_rest(own);
  MemoryContextDelete(own->context);
}

void farvec_rescan(IndexScanDesc scan, ScanKey keys, int key_count, ScanKey order_bys,
                   int order_by_count) {
  (void)key_count;
  (void)order_by_count;
  if (keys != NULL && scan->numberOfKeys > 0) {
    memmove(scan->keyData, keys, (Size)scan->numberOfKeys * sizeof(ScanKeyData));
  }
  if (order_bys != NULL && scan->numberOfOrderBys > 0) {
    memmove(scan->orderByData, order_bys, (Size)scan->numberOfOrderBys * sizeof(ScanKeyData));
  }
  end_run(scan);
}

void farvec_end_scan(IndexScanDesc scan) {
  end_run(scan);
  pfree(scan->opaque);
  scan->opaque = NULL;
}

static void read_query(FarvecScan* own, IndexScanDesc scan) {
  const StoreShape* shape = &own->index.meta.shape;
  own->is_null = scan->numberOfOrderBys == 0;  // no row is nearer than another
  if (own->is_null) return;
  const ScanKey key = &scan->orderByData[0];
  own->is_null = (key->sk_flags & SK_ISNULL) != 0;
  if (own->is_null) return;
  own->query = palloc(vector_size(shape));
  own->query_length = write_vector(key->sk_argument, shape, own->query);
  own->has_query = can_be_compared(shape, own->query_length);
}

static void begin_search(FarvecScan* own) {
  const uint32 list = (uint32)farvec_search_list;
  const uint32 first = own->index.kind->has_true_distances ? FIRST_TRUE_BATCH : FIRST_BATCH;
  const StoreSearchOptions options = {.k = first, .list = list, .filter = own->condition.text};
  own->batch = farvec_iterative_scan ? first : list;
  own->room = Max(LAST_BATCH, own->batch);
  own->found = palloc_extended(own->room * sizeof(StoreFound), MCXT_ALLOC_HUGE);
  own->search = own->index.kind->search(own->index.store, own->query, &options);
}

// The first row is asked for: everything is in the store then, or the statement ends.
static FarvecScan* begin(IndexScanDesc scan) {
  if (!IsMVCCSnapshot(scan->xs_snapshot)) {
    elog(ERROR, "scans of farvec indexes need a snapshot that stays as it is");
  }
  pgstat_count_index_scan(scan->indexRelation);
#if PG_VERSION_NUM >= 180000
  if (scan->instrument != NULL) scan->instrument->nsearches++;
#endif
  const MemoryContext context =
      AllocSetContextCreate(GetMemoryChunkContext(scan), "farvec scan", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(context);
  FarvecScan* own = palloc0(sizeof *own);
  own->context = context;
  ((ScanRuns*)scan->opaque)->now = own;
  send_kept_rows(scan->indexRelation);
  open_index(&own->index, scan->indexRelation, FARVEC_SCAN_DEADLINE_MS);
  read_query(own, scan);
  own->condition = condition_of(&own->index.columns, scan->keyData, scan->numberOfKeys);
  own->given = make_given();
  own->page = palloc(sizeof *own->page);
  own->page->used = 0;
  own->next_block = 1;
  own->report.index = RelationGetRelid(scan->indexRelation);
  own->report.keys = (uint32)scan->numberOfKeys;
  own->report.handed = own->condition.handed;
  const bool is_asked = own->has_query && !own->condition.is_never;
  if (is_asked) {
    if (!was_complete(&own->index)) ensure_complete(&own->index, scan->heapRelation);
    begin_search(own);
  }
  own->step = own->condition.is_never ? kOver : is_asked ? kAsking : kRest;
  MemoryContextSwitchTo(before);
  return own;
}

// The executor computes distances again unless they are the true ones.
static bool put(IndexScanDesc scan, ItemPointerData tid, double distance, bool is_null,
                bool is_true) {
  scan->xs_heaptid = tid;
  scan->xs_recheck = scan->numberOfKeys > 0;
  scan->xs_recheckorderby = scan->numberOfOrderBys > 0 && !is_true;
  if (scan->numberOfOrderBys > 0) {
    scan->xs_orderbyvals[0] = Float8GetDatum(distance);
    scan->xs_orderbynulls[0] = is_null;
  }
  return true;
}

static ItemPointerData tid_of(const StatusEntry* entry) {
  ItemPointerData tid;
  ItemPointerSet(&tid, entry->block, entry->offset);
  return tid;
}

static size_t next_batch(FarvecScan* own) {
  own->index.patience = patience_for(FARVEC_SCAN_DEADLINE_MS);
  return own->index.kind->next(own->search, own->found, own->batch, &own->index.patience);
}

// Asks for the next batch. Answers false where there is none.
static bool ask_more(FarvecScan* own, Relation heap) {
  if (!farvec_iterative_scan && own->report.batches > 0) return false;
  const MemoryContext before = MemoryContextSwitchTo(own->context);
  own->count = next_batch(own);
  if (own->count == kStoreNotReady) {
    ensure_complete(&own->index, heap);
    own->count = next_batch(own);
  }
  if (own->count == kStoreNotReady) {
    ereport(ERROR, (errcode(ERRCODE_CANNOT_CONNECT_NOW),
                    errmsg("the store of index \"%s\" was closed again while it caught up",
                           RelationGetRelationName(own->index.relation)),
                    errhint("Run the statement again.")));
  }
  own->index.kind->counts(own->search, &own->report.counts);
  MemoryContextSwitchTo(before);
  own->place = 0;
  own->batch = Min(2 * own->batch, own->room);
  own->report.batches++;
  own->report.found += own->count;
  return own->count > 0;
}

// To compute a distance again, the executor reads the row's vector, which mostly lies in TOAST. It
// would give the same but for the last digits of a float. Unit vectors of half floats are rounded
// more, and what a node computes depends on its collection.
static bool are_true(const FarvecScan* own, float distance) {
  const StoreShape* shape = &own->index.meta.shape;
  if (!own->index.kind->has_true_distances || !isfinite(distance)) return false;
  return shape->type != FARVEC_F16 || shape->metric != FARVEC_COSINE;
}

static bool next_found(FarvecScan* own, IndexScanDesc scan) {
  while (own->place < own->count || ask_more(own, scan->heapRelation)) {
    const StoreFound* found = &own->found[own->place++];
    StatusEntry entry;
    if (!status_find(own->index.relation, found->vid, &entry)) {
      own->report.dead++;
    } else if (give(own->given, found->vid)) {
      return put(scan, tid_of(&entry), lower_bound(own, found->distance), false,
                 are_true(own, found->distance));
    }
  }
  return false;
}

static bool is_of_step(const FarvecScan* own, const StatusEntry* entry) {
  const bool is_null = (entry->flags & FARVEC_NULL) != 0;
  return status_is_live(entry) && is_null == (own->step == kNulls);
}

static bool read_next_page(FarvecScan* own) {
  if (own->next_block >= status_blocks(own->index.relation)) return false;
  CHECK_FOR_INTERRUPTS();
  status_read(own->index.relation, own->next_block++, NULL, own->page);
  own->entry = 0;
  return true;
}

// The next row of the pages that is of this step. All distances are null.
static bool next_on_pages(FarvecScan* own, IndexScanDesc scan) {
  do {
    while (own->entry < own->page->used) {
      const StatusEntry* entry = &own->page->entries[own->entry++];
      if (!is_of_step(own, entry)) continue;
      own->report.nulls++;
      return put(scan, tid_of(entry), 0, true, true);
    }
  } while (read_next_page(own));
  return false;
}

static bool next_row(FarvecScan* own, IndexScanDesc scan) {
  ItemPointerData tid;
  double distance;
  if (own->step == kAsking) return next_found(own, scan);
  if (own->step == kNulls || own->is_null) return next_on_pages(own, scan);
  if (own->rest == NULL) sort_rest(own, scan);
  return next_of_rest(own, &tid, &distance) && put(scan, tid, distance, false, true);
}

// A store that gave as many rows as it says that meet the condition has no others.
static bool has_given_all(const FarvecScan* own) {
  return own->condition.text != NULL && own->report.found >= own->report.counts.matches;
}

// A step for which no row was ever written is left out.
static void next_step(FarvecScan* own) {
  const uint32 kinds = status_meta(own->index.relation).kinds;
  const bool is_cut = own->step == kAsking && !farvec_iterative_scan;
  own->has_all = own->step == kAsking && has_given_all(own);
  own->step = is_cut ? kOver : own->step + 1;
  if (own->step == kRest && own->has_all && (kinds & FARVEC_UNFIT) == 0) own->step = kNulls;
  if (own->step == kNulls && (kinds & FARVEC_NULL) == 0) own->step = kOver;
  own->page->used = 0;
  own->entry = 0;
  own->next_block = 1;
}

bool farvec_next(IndexScanDesc scan, ScanDirection direction) {
  if (!ScanDirectionIsForward(direction)) elog(ERROR, "farvec indexes are read forwards");
  FarvecScan* own = ((ScanRuns*)scan->opaque)->now;
  if (own == NULL) own = begin(scan);
  while (own->step != kOver) {
    if (next_row(own, scan)) return true;
    next_step(own);
  }
  return false;
}
