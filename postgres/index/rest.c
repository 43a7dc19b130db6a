// The rows that a store did not give, in the order of their distances. Each of them is read from
// the table once, and work_mem limits the memory that sorting takes.
#include <postgres.h>

#include <access/tupdesc.h>
#include <catalog/pg_operator_d.h>
#include <catalog/pg_type_d.h>
#include <executor/tuptable.h>
#include <fmgr.h>
#include <miscadmin.h>
#include <utils/builtins.h>
#include <utils/memutils.h>
#include <utils/rel.h>
#include <utils/tuplesort.h>

#include "postgres/index/rows.h"
#include "postgres/index/scan.h"

// What is sorted.
enum { kDistance = 1, kTid, kColumns = kTid };

struct Rest {
  Tuplesortstate* sort;
  TupleTableSlot* from;
  TupleTableSlot* to;
};

static Rest* begin_sort(void) {
  Rest* rest = palloc0(sizeof *rest);
  TupleDesc columns = CreateTemplateTupleDesc(kColumns);
  TupleDescInitEntry(columns, kDistance, "distance", FLOAT8OID, -1, 0);
  TupleDescInitEntry(columns, kTid, "tid", TIDOID, -1, 0);
  AttrNumber key = kDistance;
  Oid less = Float8LessOperator;
  Oid collation = InvalidOid;
  bool nulls_first = false;
  rest->sort = tuplesort_begin_heap(columns, 1, &key, &less, &collation, &nulls_first, work_mem,
                                    NULL, TUPLESORT_NONE);
  rest->from = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  rest->to = MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
  return rest;
}

static void put_row(Rest* rest, const StatusEntry* entry, double distance) {
  ItemPointerData tid;
  ItemPointerSet(&tid, entry->block, entry->offset);
  ExecClearTuple(rest->from);
  rest->from->tts_values[kDistance - 1] = Float8GetDatum(distance);
  rest->from->tts_isnull[kDistance - 1] = false;
  rest->from->tts_values[kTid - 1] = PointerGetDatum(&tid);
  rest->from->tts_isnull[kTid - 1] = false;
  ExecStoreVirtualTuple(rest->from);
  tuplesort_puttupleslot(rest->sort, rest->from);
}

static bool is_left(const FarvecScan* own, const StatusEntry* entry, uint64 vid) {
  if (own->has_all && (entry->flags & FARVEC_UNFIT) == 0) return false;
  return status_is_live(entry) && (entry->flags & FARVEC_NULL) == 0 && !was_given(own->given, vid);
}

static void put_page(FarvecScan* own, ScanKey key, RowReader* rows, const StatusPage* page) {
  for (uint32 i = 0; i < page->used; i++) {
    const StatusEntry* entry = &page->entries[i];
    double distance;
    if (!is_left(own, entry, vid_of(page->generation, page->block, i))) continue;
    if (!read_distance(rows, entry, key, &distance)) continue;
    put_row(own->rest, entry, distance);
    own->report.rest++;
  }
}

void sort_rest(FarvecScan* own, IndexScanDesc scan) {
  const MemoryContext before = MemoryContextSwitchTo(own->context);
  const BlockNumber blocks = status_blocks(own->index.relation);
  RowReader* rows = open_rows(&own->index, scan->heapRelation, scan->xs_snapshot);
  own->rest = begin_sort();
  for (BlockNumber block = 1; block < blocks; block++) {
    CHECK_FOR_INTERRUPTS();
    status_read(own->index.relation, block, NULL, own->page);
    put_page(own, &scan->orderByData[0], rows, own->page);
  }
  close_rows(rows);
  tuplesort_performsort(own->rest->sort);
  MemoryContextSwitchTo(before);
}

bool next_of_rest(FarvecScan* own, ItemPointer tid, double* distance) {
  bool is_null;
  Rest* rest = own->rest;
  if (!tuplesort_gettupleslot(rest->sort, true, false, rest->to, NULL)) return false;
  *distance = DatumGetFloat8(slot_getattr(rest->to, kDistance, &is_null));
  *tid = *(ItemPointer)DatumGetPointer(slot_getattr(rest->to, kTid, &is_null));
  return true;
}

// Its files and memory outside of the scan's context.
void end_rest(FarvecScan* own) {
  if (own->rest == NULL) return;
  tuplesort_end(own->rest->sort);
  ExecDropSingleTupleTableSlot(own->rest->from);
  ExecDropSingleTupleTableSlot(own->rest->to);
  own->rest = NULL;
}
