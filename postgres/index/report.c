// farvec_stats() and farvec_last_scan(): what an index has, and what a scan did.
#include <postgres.h>

#include "postgres/index/report.h"

#include <access/genam.h>
#include <catalog/index.h>
#include <fmgr.h>
#include <lib/stringinfo.h>
#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <utils/acl.h>
#include <utils/builtins.h>
#include <utils/fmgrprotos.h>
#include <utils/json.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/rel.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/pending.h"
#include "postgres/index/placing.h"
#include "postgres/index/scan.h"

PG_FUNCTION_INFO_V1(farvec_stats);
PG_FUNCTION_INFO_V1(farvec_last_scan);

Datum json_datum(const StringInfoData* text) {
  return DirectFunctionCall1(jsonb_in, CStringGetDatum(text->data));
}

static bool is_owner(Oid relation) {
#if PG_VERSION_NUM >= 160000
  return object_ownercheck(RelationRelationId, relation, GetUserId());
#else
  return pg_class_ownercheck(relation, GetUserId());
#endif
}

Relation open_farvec_index(Oid oid) {
  if (get_rel_relkind(oid) != RELKIND_INDEX) {
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("relation %u is no index", oid)));
  }
  if (!is_owner(oid)) {
    aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(oid));
  }
  Relation index = index_open(oid, AccessShareLock);
  if (index->rd_indam->ambuild != farvec_build) {
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("index \"%s\" is not of farvec", RelationGetRelationName(index))));
  }
  if (RELATION_IS_OTHER_TEMP(index)) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("index \"%s\" is of another session's temporary table",
                           RelationGetRelationName(index))));
  }
  return index;
}

typedef struct Tally {
  uint64 live;
  uint64 dead;
  uint64 nulls;
  uint64 zeros;
} Tally;

static Tally tally(Relation index) {
  Tally sums = {0};
  const BlockNumber blocks = status_blocks(index);
  StatusPage* page = palloc(sizeof *page);
  for (BlockNumber block = 1; block < blocks; block++) {
    CHECK_FOR_INTERRUPTS();
    status_read(index, block, NULL, page);
    for (uint32 i = 0; i < page->used; i++) {
      const bool is_live = status_is_live(&page->entries[i]);
      sums.live += is_live;
      sums.dead += !is_live;
      sums.nulls += is_live && (page->entries[i].flags & FARVEC_NULL) != 0;
      sums.zeros += is_live && (page->entries[i].flags & FARVEC_UNFIT) != 0;
    }
  }
  pfree(page);
  return sums;
}

static void append_its_place(StringInfo text, OpenIndex* index) {
  farvec_error error;
  StorePlace place;
  if (index->kind->place == NULL) return;
  if (!index->kind->place(index->store, &place, &index->patience, &error)) {
    raise_store_error(&error, node_of(index->relation), &index->patience);
  }
  append_place(text, &place);
}

// The store is asked. One that does not answer is told as an error in the answer, since that is
// what the reader wants to know.
static void append_store(StringInfo text, OpenIndex* index) {
  const MemoryContext before = CurrentMemoryContext;
  PG_TRY();
  {
    const StoreState state = index->kind->state(index->store, &index->patience);
    appendStringInfo(
        text,
        "\"ready\": %s, \"foreign\": %s, \"stored\": " UINT64_FORMAT ", \"bytes\": " UINT64_FORMAT,
        state.ready ? "true" : "false", state.foreign ? "true" : "false", state.rows, state.bytes);
    append_its_place(text, index);
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(before);
    ErrorData* error = CopyErrorData();
    if (error->sqlerrcode == ERRCODE_QUERY_CANCELED) PG_RE_THROW();
    FlushErrorState();
    appendStringInfoString(text, "\"error\": ");
    escape_json(text, error->message);
  }
  PG_END_TRY();
}

static const char* columns_of(const OpenIndex* index) {
  StringInfoData schema;
  initStringInfo(&schema);
  append_schema(&schema, &index->columns);
  return schema.data;
}

Datum farvec_stats(PG_FUNCTION_ARGS) {
  OpenIndex index;
  StringInfoData text;
  Relation relation = open_farvec_index(PG_GETARG_OID(0));
  send_kept_rows(relation);
  open_index(&index, relation, FARVEC_SCAN_DEADLINE_MS);
  const Tally sums = tally(relation);
  initStringInfo(&text);
  appendStringInfo(&text,
                   "{\"live\": " UINT64_FORMAT ", \"dead\": " UINT64_FORMAT
                   ", \"nulls\": " UINT64_FORMAT ", \"unstored\": " UINT64_FORMAT
                   ", \"pages\": %u, \"generation\": %u, \"dimension\": %u, \"told\": %s, "
                   "\"store\": {\"kind\": \"%s\", ",
                   sums.live, sums.dead, sums.nulls, sums.zeros, status_blocks(relation),
                   index.meta.generation, index.meta.shape.dimension,
                   index.meta.lacks_from == kNoVid ? "true" : "false", index.kind->name);
  append_store(&text, &index);
  appendStringInfoString(&text, "}, \"columns\": ");
  escape_json(&text, columns_of(&index));
  appendStringInfoChar(&text, '}');
  index_close(relation, AccessShareLock);
  PG_RETURN_DATUM(json_datum(&text));
}

void scan_numbers(const ScanReport* report, ScanNumber numbers[FARVEC_SCAN_NUMBERS]) {
  const farvec_counts* counts = &report->counts;
  // How many rows meet the conditions is counted where a scan comes to their end.
  const bool has_matches = report->handed > 0 && counts->matches != kNotKnown;
  const ScanNumber all[FARVEC_SCAN_NUMBERS] = {{"batches", report->batches, true},
                                               {"found", report->found, true},
                                               {"dead", report->dead, true},
                                               {"rest", report->rest, true},
                                               {"nulls", report->nulls, true},
                                               {"hops", counts->hops, true},
                                               {"reads", counts->reads, true},
                                               {"bytes", counts->bytes, true},
                                               {"estimates", counts->estimates, true},
                                               {"distances", counts->distances, true},
                                               {"conditions", report->keys, true},
                                               {"handed_down", report->handed, true},
                                               {"matches", counts->matches, has_matches},
                                               {"walks", counts->walks, true},
                                               {"scans", counts->scans, true}};
  memcpy(numbers, all, sizeof all);
}

// Null before the first scan of the session.
Datum farvec_last_scan(PG_FUNCTION_ARGS) {
  ScanNumber numbers[FARVEC_SCAN_NUMBERS];
  StringInfoData text;
  if (!OidIsValid(last_scan.index)) PG_RETURN_NULL();
  initStringInfo(&text);
  const char* name = get_rel_name(last_scan.index);
  appendStringInfoString(&text, "{\"index\": ");
  escape_json(&text, name == NULL ? "" : name);
  scan_numbers(&last_scan, numbers);
  for (int i = 0; i < FARVEC_SCAN_NUMBERS; i++) {
    appendStringInfo(&text, ", \"%s\": %s", numbers[i].name,
                     numbers[i].is_known ? psprintf(UINT64_FORMAT, numbers[i].value) : "null");
  }
  appendStringInfoChar(&text, '}');
  PG_RETURN_DATUM(json_datum(&text));
}
