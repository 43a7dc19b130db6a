// Rows that a store lacks are read from their table in its order, and told.
#include <postgres.h>

#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <utils/rel.h>
#include <utils/spccache.h>

#include "postgres/index/deadlines.h"
#include "postgres/index/missing.h"

static bool is_live(CatchUp* work, uint64 vid) {
  StatusPage* page = work->page;
  if (page->used == 0 || page->block != vid_block(vid)) {
    status_read(work->index->relation, vid_block(vid), NULL, page);
  }
  return page->generation == vid_generation(vid) && vid_place(vid) < page->used &&
         status_is_live(&page->entries[vid_place(vid)]);
}

static void require(bool is_done, const CatchUp* work, const farvec_error* error) {
  if (!is_done) {
    raise_store_error(error, node_of(work->index->relation), &work->index->patience);
  }
}

// Rows that vacuum removed meanwhile were perhaps told after vacuum erased them, or are others that
// have their places: they are erased again.
static void erase_removed(CatchUp* work) {
  size_t removed = 0;
  farvec_error error;
  work->page->used = 0;  // they are read as they are now
  for (size_t i = 0; i < work->told_count; i++) {
    if (!is_live(work, work->told_vids[i])) work->told_vids[removed++] = work->told_vids[i];
  }
  work->told_count = 0;
  if (removed == 0) return;
  require(work->index->kind->erase(work->index->store, work->told_vids, removed,
                                   &work->index->patience, &error),
          work, &error);
}

// Where the store takes a batch while the next one is read, those before it are in afterwards.
static void tell_batch(CatchUp* work) {
  OpenIndex* index = work->index;
  const StoreKind* kind = index->kind;
  farvec_error error = {0};
  uint64* const vids = work->vids;
  if (work->count == 0) return;
  end_phase(work, kRows);
  index->patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
  require((kind->tell != NULL ? kind->tell : kind->insert)(index->store, vids, work->vectors,
                                                           tuples_of(&work->tuples), work->count,
                                                           &index->patience, &error),
          work, &error);
  if (kind->told != NULL) erase_removed(work);
  work->vids = work->told_vids;
  work->told_vids = vids;
  work->told_count = work->count;
  if (kind->told == NULL) erase_removed(work);
  work->told += work->count;
  work->count = 0;
  forget_tuples(&work->tuples);
  end_phase(work, kTelling);
}

static void tell_last_batch(CatchUp* work) {
  farvec_error error = {0};
  tell_batch(work);
  if (work->told_count == 0) return;
  require(work->index->kind->told(work->index->store, &work->index->patience, &error), work,
          &error);
  erase_removed(work);
  end_phase(work, kTelling);
}

static void tell_row(CatchUp* work, const MissingRow* row) {
  const Size bytes = vector_size(&work->index->meta.shape);
  double length;
  if (!read_vector(work->reader, &row->entry, work->vectors + work->count * bytes, &length)) return;
  add_last_tuple(&work->tuples, row_tuple(work->reader));
  work->vids[work->count++] = row->vid;
  if (work->count == work->room || are_many(&work->tuples)) tell_batch(work);
}

static int compare_places(const void* left, const void* right) {
  const StatusEntry* one = &((const MissingRow*)left)->entry;
  const StatusEntry* other = &((const MissingRow*)right)->entry;
  if (one->block != other->block) return one->block < other->block ? -1 : 1;
  return (int)one->offset - (int)other->offset;
}

// Blocks of the table that the system is asked to read before their rows are.
typedef struct Ahead {
  int most;
  int count;   // blocks that were asked for and are still to come
  size_t row;  // the next one whose block is looked at
} Ahead;

static bool is_new_block(const CatchUp* work, size_t row) {
  return row == 0 || work->missing[row].entry.block != work->missing[row - 1].entry.block;
}

static void read_ahead(CatchUp* work, Ahead* ahead) {
  while (ahead->row < work->missing_count && ahead->count < ahead->most) {
    const size_t row = ahead->row++;
    if (!is_new_block(work, row)) continue;
    PrefetchBuffer(work->heap, MAIN_FORKNUM, work->missing[row].entry.block);
    ahead->count++;
  }
}

void tell_missing(CatchUp* work) {
  Ahead ahead = {.most =
                     get_tablespace_maintenance_io_concurrency(work->heap->rd_rel->reltablespace)};
  qsort(work->missing, work->missing_count, sizeof(MissingRow), compare_places);
  for (size_t i = 0; i < work->missing_count; i++) {
    if (is_new_block(work, i)) {
      CHECK_FOR_INTERRUPTS();
      if (ahead.count > 0) ahead.count--;
      read_ahead(work, &ahead);
    }
    tell_row(work, &work->missing[i]);
  }
  end_phase(work, kRows);
  tell_last_batch(work);
  work->missing_count = 0;
}
