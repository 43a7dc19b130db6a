// Pages of entries: reading them, finding VIDs, and setting flags.
#include <postgres.h>

#include <access/generic_xlog.h>
#include <access/xlog.h>
#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <storage/smgr.h>
#include <utils/rel.h>

#include "postgres/index/status.h"
#include "postgres/index/status_magic.h"

static bool is_entry(const StatusEntry* entry) {
  return entry->offset != InvalidOffsetNumber && entry->block != InvalidBlockNumber &&
         (entry->flags & ~FARVEC_FLAGS) == 0;
}

void status_check_page(Relation index, Buffer buffer) {
  Page page = BufferGetPage(buffer);
  const BlockNumber block = BufferGetBlockNumber(buffer);
  if (PageGetSpecialSize(page) != MAXALIGN(sizeof(StatusSpecial)) ||
      ((PageHeader)page)->pd_special != BLCKSZ - MAXALIGN(sizeof(StatusSpecial)) ||
      status_special(page)->magic != FARVEC_PAGE_MAGIC) {
    status_corrupted(index, block, "it is no page of entries");
  }
  const StatusSpecial* special = status_special(page);
  const char* end = (char*)(status_entries(page) + special->used);
  if (special->generation < 1 || special->generation > FARVEC_MAX_GENERATION ||
      special->used > FARVEC_ENTRIES_PER_PAGE ||
      ((PageHeader)page)->pd_lower != (LocationIndex)(end - (char*)page)) {
    status_corrupted(index, block, "its numbers cannot be");
  }
}

static void check_entry(Relation index, BlockNumber block, const StatusEntry* entry) {
  if (!is_entry(entry)) status_corrupted(index, block, "an entry cannot be");
}

BlockNumber status_blocks(Relation index) {
  return RelationGetNumberOfBlocks(index);
}

void status_read(Relation index, BlockNumber block, BufferAccessStrategy strategy,
                 StatusPage* page) {
  const Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  page->block = block;
  page->used = 0;
  page->generation = 0;
  if (!PageIsNew(BufferGetPage(buffer))) {
    status_check_page(index, buffer);
    page->used = status_special(BufferGetPage(buffer))->used;
    page->generation = status_special(BufferGetPage(buffer))->generation;
    memcpy(page->entries, status_entries(BufferGetPage(buffer)), page->used * sizeof(StatusEntry));
  }
  UnlockReleaseBuffer(buffer);
  for (uint32 i = 0; i < page->used; i++) check_entry(index, block, &page->entries[i]);
}

// The system is asked only where the index had fewer blocks when it was asked last: it grows, and
// never gets shorter.
static bool is_there(Relation index, BlockNumber block) {
  const BlockNumber known = RelationGetSmgr(index)->smgr_cached_nblocks[MAIN_FORKNUM];
  return (known != InvalidBlockNumber && block < known) || block < RelationGetNumberOfBlocks(index);
}

bool status_find(Relation index, uint64 vid, StatusEntry* entry) {
  const BlockNumber block = vid_block(vid);
  if (block == 0 || vid > (uint64)PG_INT64_MAX || !is_there(index, block)) return false;
  const Buffer buffer = ReadBuffer(index, block);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  bool found = false;
  if (!PageIsNew(BufferGetPage(buffer))) {
    status_check_page(index, buffer);
    const StatusSpecial* special = status_special(BufferGetPage(buffer));
    found = special->generation == vid_generation(vid) && vid_place(vid) < special->used;
    if (found) *entry = status_entries(BufferGetPage(buffer))[vid_place(vid)];
  }
  UnlockReleaseBuffer(buffer);
  if (!found) return false;
  check_entry(index, block, entry);
  return status_is_live(entry);
}

static void set_flags(Page page, const uint16* places, size_t count, uint16 flags) {
  StatusEntry* entries = status_entries(page);
  for (size_t i = 0; i < count; i++) {
    if (places[i] < status_special(page)->used) entries[places[i]].flags |= flags;
  }
}

bool status_mark(Relation index, BlockNumber block, uint32 generation, const uint16* places,
                 size_t count, uint16 flags, bool flushed) {
  const Buffer buffer = ReadBuffer(index, block);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  status_check_page(index, buffer);
  if (status_special(BufferGetPage(buffer))->generation != generation) {
    UnlockReleaseBuffer(buffer);
    return false;
  }
  GenericXLogState* record = GenericXLogStart(index);
  set_flags(GenericXLogRegisterBuffer(record, buffer, 0), places, count, flags);
  const XLogRecPtr end = GenericXLogFinish(record);
  UnlockReleaseBuffer(buffer);
  if (flushed && RelationNeedsWAL(index)) XLogFlush(end);
  return true;
}
