// VACUUM: entries of rows that no snapshot sees any more become dead, and the store is told.
#include <postgres.h>

#include <access/genam.h>
#include <access/xlog.h>
#include <commands/vacuum.h>
#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <storage/indexfsm.h>
#include <utils/rel.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/index.h"
#include "postgres/index/pending.h"

typedef struct Cleaning {
  OpenIndex index;
  bool store_answers;
  IndexVacuumInfo* info;
  IndexBulkDeleteResult* result;
  IndexBulkDeleteCallback callback;
  void* state;
  StatusPage page;
  uint16 places[FARVEC_ENTRIES_PER_PAGE];
  size_t count;
  uint64 vids[FARVEC_ENTRIES_PER_PAGE];
} Cleaning;

static ItemPointerData tid_of(const StatusEntry* entry) {
  ItemPointerData tid;
  ItemPointerSet(&tid, entry->block, entry->offset);
  return tid;
}

// Marks the entries of rows that are gone. They are durable before the store erases their vectors.
static void mark_dead(Cleaning* cleaning) {
  StatusPage* page = &cleaning->page;
  cleaning->count = 0;
  for (uint32 i = 0; i < page->used; i++) {
    if (!status_is_live(&page->entries[i])) continue;
    ItemPointerData tid = tid_of(&page->entries[i]);
    if (!cleaning->callback(&tid, cleaning->state)) {
      cleaning->result->num_index_tuples++;
      continue;
    }
    cleaning->places[cleaning->count++] = (uint16)i;
    page->entries[i].flags |= FARVEC_DEAD;
    cleaning->result->tuples_removed++;
  }
  if (cleaning->count == 0) return;
  status_mark(cleaning->index.relation, page->block, page->generation, cleaning->places,
              cleaning->count, FARVEC_DEAD, true);
}

// A store that does not answer now is told by a later vacuum.
static bool erase(Cleaning* cleaning) {
  farvec_error error = {0};
  OpenIndex* index = &cleaning->index;
  index->patience = patience_for(FARVEC_ERASE_DEADLINE_MS);
  if (index->kind->erase(index->store, cleaning->vids, cleaning->count, &index->patience, &error)) {
    return true;
  }
  cleaning->store_answers = false;
  ereport(WARNING, (errcode(ERRCODE_WARNING),
                    errmsg("index \"%s\" keeps dead vectors until a later vacuum: %s",
                           RelationGetRelationName(index->relation), error.message)));
  return false;
}

// Tells the store about all dead entries of the page of which it was not told.
static void erase_dead(Cleaning* cleaning) {
  StatusPage* page = &cleaning->page;
  cleaning->count = 0;
  for (uint32 i = 0; i < page->used; i++) {
    if (status_is_live(&page->entries[i]) || status_is_settled(&page->entries[i])) continue;
    cleaning->places[cleaning->count] = (uint16)i;
    cleaning->vids[cleaning->count++] = vid_of(page->generation, page->block, i);
  }
  if (cleaning->count == 0 || !cleaning->store_answers || !erase(cleaning)) return;
  status_mark(cleaning->index.relation, page->block, page->generation, cleaning->places,
              cleaning->count, FARVEC_ERASED, false);
  for (size_t i = 0; i < cleaning->count; i++) {
    page->entries[cleaning->places[i]].flags |= FARVEC_ERASED;
  }
}

// A page without a row can be begun again. It does not matter when it is found twice.
static void free_page(Cleaning* cleaning) {
  const StatusPage* page = &cleaning->page;
  for (uint32 i = 0; i < page->used; i++) {
    if (!status_is_settled(&page->entries[i])) return;
  }
  RecordFreeIndexPage(cleaning->index.relation, page->block);
  cleaning->result->pages_free++;
}

static void clean_page(Cleaning* cleaning, BlockNumber block) {
  vacuum_delay_point(
#if PG_VERSION_NUM >= 180000
      false
#endif
  );
  status_read(cleaning->index.relation, block, cleaning->info->strategy, &cleaning->page);
  mark_dead(cleaning);
  erase_dead(cleaning);
  free_page(cleaning);
}

IndexBulkDeleteResult* farvec_bulk_delete(IndexVacuumInfo* info, IndexBulkDeleteResult* result,
                                          IndexBulkDeleteCallback callback, void* state) {
  if (result == NULL) result = palloc0(sizeof *result);
  result->num_index_tuples = 0;
  result->pages_free = 0;
  Cleaning* cleaning = palloc0(sizeof *cleaning);
  cleaning->store_answers = true;
  cleaning->info = info;
  cleaning->result = result;
  cleaning->callback = callback;
  cleaning->state = state;
  send_kept_rows(info->index);
  open_index(&cleaning->index, info->index, FARVEC_ERASE_DEADLINE_MS);
  // Rows that are inserted meanwhile are not gone, so pages that come meanwhile need no look.
  const BlockNumber blocks = status_blocks(info->index);
  for (BlockNumber block = 1; block < blocks; block++) clean_page(cleaning, block);
  pfree(cleaning);
  return result;
}

IndexBulkDeleteResult* farvec_vacuum_cleanup(IndexVacuumInfo* info, IndexBulkDeleteResult* result) {
  if (info->analyze_only) return result;
  if (result == NULL) {
    result = palloc0(sizeof *result);
    result->num_index_tuples = info->num_heap_tuples;
    result->estimated_count = true;
  }
  result->num_pages = status_blocks(info->index);
  IndexFreeSpaceMapVacuum(info->index);
  return result;
}
