// Giving out VIDs: entries go into the page that is being filled, and pages are begun.
#include <postgres.h>

#include <access/generic_xlog.h>
#include <access/xlog.h>
#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <storage/indexfsm.h>
#include <utils/rel.h>

#include "postgres/index/status.h"
#include "postgres/index/status_magic.h"
#include "postgres/shared.h"

#if PG_VERSION_NUM >= 150000
#include <access/xlogrecovery.h>
#endif

// A promoted standby goes on with the memory that it had, but may lack WAL of the old primary,
// which gave out VIDs. So the timeline is a part of the number.
static uint64 this_start(void) {
  return shared_state()->start ^
         ((uint64)GetWALInsertionTimeLine() * UINT64CONST(0x9E3779B97F4A7C15));
}

static size_t room_in(Page page) {
  return FARVEC_ENTRIES_PER_PAGE - status_special(page)->used;
}

// Appends to a page in a record of WAL, and writes the VIDs.
static size_t append(Page page, BlockNumber block, const StatusEntry* entries, uint64* vids,
                     size_t count) {
  StatusSpecial* special = status_special(page);
  const size_t taken = Min(count, room_in(page));
  memcpy(status_entries(page) + special->used, entries, taken * sizeof *entries);
  for (size_t i = 0; i < taken; i++) {
    vids[i] = vid_of(special->generation, block, special->used + (uint32)i);
  }
  special->used = (uint16)(special->used + taken);
  ((PageHeader)page)->pd_lower =
      (LocationIndex)((char*)(status_entries(page) + special->used) - (char*)page);
  return taken;
}

static bool can_be_filled(Relation index, Buffer buffer) {
  Page page = BufferGetPage(buffer);
  if (PageIsNew(page)) return false;
  status_check_page(index, buffer);
  return status_special(page)->start == this_start() && room_in(page) > 0;
}

// Appends to the page that is being filled, as many as it has room for. 0: one has to be begun.
static size_t append_to(Relation index, BlockNumber block, const StatusEntry* entries, uint64* vids,
                        size_t count) {
  const Buffer buffer = ReadBuffer(index, block);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  size_t taken = 0;
  if (can_be_filled(index, buffer)) {
    GenericXLogState* record = GenericXLogStart(index);
    taken = append(GenericXLogRegisterBuffer(record, buffer, 0), block, entries, vids, count);
    GenericXLogFinish(record);
  }
  UnlockReleaseBuffer(buffer);
  return taken;
}

// Nothing is on the page that a store or a scan may still ask for.
static bool is_over(Relation index, Buffer buffer) {
  Page page = BufferGetPage(buffer);
  if (PageIsNew(page)) return true;
  status_check_page(index, buffer);
  for (uint32 i = 0; i < status_special(page)->used; i++) {
    if (!status_is_settled(&status_entries(page)[i])) return false;
  }
  return status_special(page)->used > 0;
}

// A locked page that vacuum has found empty, else InvalidBuffer. The map of free pages is not in
// WAL, so it may be wrong.
static Buffer used_page(Relation index, const StatusMeta* meta) {
  while (true) {
    const BlockNumber block = GetFreeIndexPage(index);
    if (block == InvalidBlockNumber) return InvalidBuffer;
    if (block == 0 || block == meta->filling || block >= RelationGetNumberOfBlocks(index)) continue;
    const Buffer buffer = ReadBuffer(index, block);
    if (ConditionalLockBuffer(buffer)) {
      if (is_over(index, buffer)) return buffer;
      LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    }
    ReleaseBuffer(buffer);
  }
}

// The meta page is locked, so no other backend extends the index.
static Buffer new_page(Relation index) {
  const Buffer buffer = ReadBuffer(index, P_NEW);
  if (BufferGetBlockNumber(buffer) >= 1u << FARVEC_BLOCK_BITS) {
    ReleaseBuffer(buffer);
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("index \"%s\" has no more room for entries", RelationGetRelationName(index))));
  }
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  return buffer;
}

static void fill_page(Page page, uint32 generation) {
  PageInit(page, BLCKSZ, sizeof(StatusSpecial));
  *status_special(page) =
      (StatusSpecial){.magic = FARVEC_PAGE_MAGIC, .generation = generation, .start = this_start()};
  ((PageHeader)page)->pd_lower = (LocationIndex)(PageGetContents(page) - (char*)page);
}

// Begins a page under the locked meta page. Its generation is durable before a VID of it is given
// out: after a crash the next page then has a later one.
static void begin_under(Relation index, Buffer locked_meta, bool durable) {
  const StatusMeta* meta = status_meta_of(index, locked_meta);
  if (meta->generation > FARVEC_MAX_GENERATION) {
    ereport(
        ERROR,
        (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
         errmsg("index \"%s\" has no more generations of pages", RelationGetRelationName(index)),
         errhint("REINDEX INDEX %s; begins them again.", RelationGetRelationName(index))));
  }
  Buffer buffer = used_page(index, meta);
  if (!BufferIsValid(buffer)) buffer = new_page(index);
  GenericXLogState* record = GenericXLogStart(index);
  StatusMeta* now = status_meta_in(GenericXLogRegisterBuffer(record, locked_meta, 0));
  fill_page(GenericXLogRegisterBuffer(record, buffer, GENERIC_XLOG_FULL_IMAGE), now->generation);
  now->generation++;
  now->filling = BufferGetBlockNumber(buffer);
  const XLogRecPtr end = GenericXLogFinish(record);
  if (durable && RelationNeedsWAL(index)) XLogFlush(end);
  UnlockReleaseBuffer(buffer);
}

// Begins a page, unless another backend has done so.
static void begin_page(Relation index, bool durable) {
  const Buffer locked_meta = ReadBuffer(index, 0);
  LockBuffer(locked_meta, BUFFER_LOCK_EXCLUSIVE);
  const BlockNumber filling = status_meta_of(index, locked_meta)->filling;
  bool has_room = false;
  if (filling != 0) {
    const Buffer buffer = ReadBuffer(index, filling);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    has_room = can_be_filled(index, buffer);
    UnlockReleaseBuffer(buffer);
  }
  if (!has_room) begin_under(index, locked_meta, durable);
  UnlockReleaseBuffer(locked_meta);
}

void status_add(Relation index, const StatusEntry* entries, uint64* vids, size_t count,
                bool durable) {
  size_t done = 0;
  while (done < count) {
    const BlockNumber filling = status_meta(index).filling;
    const size_t taken =
        filling == 0 ? 0 : append_to(index, filling, entries + done, vids + done, count - done);
    if (taken == 0) begin_page(index, durable);
    done += taken;
  }
}
