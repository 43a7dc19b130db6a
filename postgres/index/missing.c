// One pass over the status pages finds which rows a store lacks.
#include <postgres.h>

#include "postgres/index/missing.h"

#include <miscadmin.h>
#include <utils/memutils.h>
#include <utils/rel.h>

#include "postgres/index/deadlines.h"

#define PAGES_AT_ONCE 512
#define FIRST_ROOM 1024  // rows

void end_phase(CatchUp* work, CatchUpPhase phase) {
  instr_time now;
  instr_time taken;
  INSTR_TIME_SET_CURRENT(now);
  taken = now;
  INSTR_TIME_SUBTRACT(taken, work->last);
  work->ms[phase] += INSTR_TIME_GET_MILLISEC(taken);
  work->last = now;
}

// Pages that are compared together.
typedef struct PageBatch {
  size_t count;
  StatusPage pages[PAGES_AT_ONCE];
  StorePage asked[PAGES_AT_ONCE];
  StoreBits lacks[PAGES_AT_ONCE];
} PageBatch;

static bool is_within(const CatchUp* work, const StatusPage* page) {
  return page->used > 0 && vid_of(page->generation, page->block, 0) < work->pass.until &&
         vid_of(page->generation, page->block, page->used - 1) >= work->pass.from;
}

static void write_live(const StatusPage* page, StorePage* to) {
  memset(to, 0, sizeof *to);
  to->number = vid_of(page->generation, page->block, 0) >> FARVEC_PLACE_BITS;
  for (uint32 i = 0; i < page->used; i++) {
    const StatusEntry* entry = &page->entries[i];
    const bool is_stored = status_is_live(entry) && (entry->flags & FARVEC_STORELESS) == 0;
    to->live.words[i / 64] |= (uint64)is_stored << i % 64;
  }
}

// Rows that are found to be missing have half of maintenance_work_mem.
static size_t most_missing(void) {
  return Max((Size)maintenance_work_mem * 1024 / 2 / sizeof(MissingRow), FIRST_ROOM);
}

static void make_room(CatchUp* work) {
  if (work->missing_count < work->missing_room) return;
  if (work->missing_room >= most_missing()) {
    tell_missing(work);
    return;
  }
  work->missing_room = Min(2 * work->missing_room, most_missing());
  work->missing = repalloc_huge(work->missing, work->missing_room * sizeof(MissingRow));
}

static void add_missing(CatchUp* work, const StatusPage* page, const StoreBits* lacks) {
  for (uint32 i = 0; i < page->used; i++) {
    const uint64 vid = vid_of(page->generation, page->block, i);
    if ((lacks->words[i / 64] >> i % 64 & 1) == 0) continue;
    if (vid < work->pass.from || vid >= work->pass.until) continue;
    make_room(work);
    work->missing[work->missing_count++] = (MissingRow){page->entries[i], vid};
  }
}

// A store that cannot compare may lack all that live.
static void compare(CatchUp* work, PageBatch* batch) {
  const OpenIndex* index = work->index;
  for (size_t i = 0; i < batch->count; i++) {
    write_live(&batch->pages[i], &batch->asked[i]);
    batch->lacks[i] = batch->asked[i].live;
  }
  end_phase(work, kPages);
  if (index->kind->lacks != NULL) {
    Patience patience = patience_for(FARVEC_BATCH_DEADLINE_MS);
    index->kind->lacks(index->store, batch->asked, batch->count, &work->pass, batch->lacks,
                       &patience);
  }
  end_phase(work, kComparing);
  for (size_t i = 0; i < batch->count; i++) {
    add_missing(work, &batch->pages[i], &batch->lacks[i]);
  }
  work->pass.begins = false;
  batch->count = 0;
}

// A pass from the first VID on is over all pages: the store learns what it has that no page has.
void tell_what_lacks(CatchUp* work) {
  Relation index = work->index->relation;
  const BlockNumber blocks = status_blocks(index);
  PageBatch* batch = palloc_extended(sizeof *batch, MCXT_ALLOC_HUGE);
  batch->count = 0;
  work->pass.begins = work->pass.from == 0;
  work->pass.ends = false;
  work->missing_count = 0;
  work->missing_room = FIRST_ROOM;
  work->missing = palloc(FIRST_ROOM * sizeof(MissingRow));
  for (BlockNumber block = 1; block < blocks; block++) {
    CHECK_FOR_INTERRUPTS();
    if (batch->count == PAGES_AT_ONCE) compare(work, batch);
    status_read(index, block, NULL, &batch->pages[batch->count]);
    work->pages++;
    if (is_within(work, &batch->pages[batch->count])) batch->count++;
  }
  work->pass.ends = work->pass.from == 0;
  if (batch->count > 0 || work->pass.ends) compare(work, batch);
  tell_missing(work);
  pfree(work->missing);
  pfree(batch);
}
