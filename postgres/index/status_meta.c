// The meta page: what an index is, and how far its store is known to have everything.
#include <postgres.h>

#include <access/generic_xlog.h>
#include <access/xlog.h>
#include <access/xloginsert.h>
#include <common/hashfn.h>
#include <math.h>
#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <utils/rel.h>

#include "postgres/index/index.h"
#include "postgres/index/status.h"
#include "postgres/vector.h"

#define MAGIC 0x46765049  // FvPI
#define VERSION 2
#define MOST_BITS 65536

void status_corrupted(Relation index, BlockNumber block, const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                  errmsg("index \"%s\" is damaged in block %u: %s", RelationGetRelationName(index),
                         block, what),
                  errhint("REINDEX INDEX %s; makes it again from its table.",
                          RelationGetRelationName(index))));
}

StatusMeta* status_meta_in(Page page) {
  return (StatusMeta*)PageGetContents(page);
}

// The class of operators says for which type and metric the column's values are read.
static bool is_shape(const StoreShape* shape, const IndexClass* kind) {
  const uint32 most = shape->type == FARVEC_B1 ? MOST_BITS : FARVEC_MAX_DIMENSION;
  return shape->type == kind->type && shape->metric == kind->metric && shape->dimension >= 1 &&
         shape->dimension <= most;
}

StatusMeta* status_meta_of(Relation index, Buffer buffer) {
  Page page = BufferGetPage(buffer);
  StatusMeta* meta = status_meta_in(page);
  if (PageIsNew(page) ||
      ((PageHeader)page)->pd_lower != (LocationIndex)((char*)(meta + 1) - (char*)page) ||
      meta->magic != MAGIC) {
    status_corrupted(index, 0, "it is no meta page");
  }
  if (meta->version != VERSION) {
    ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                    errmsg("index \"%s\" has the format %u, and this extension reads %u",
                           RelationGetRelationName(index), meta->version, VERSION),
                    errhint("REINDEX INDEX %s; makes it again from its table.",
                            RelationGetRelationName(index))));
  }
  if (!is_shape(&meta->shape, class_of(index))) status_corrupted(index, 0, "its shape cannot be");
  if (meta->generation < 1 || meta->generation > FARVEC_MAX_GENERATION + 1 ||
      meta->filling >= 1u << FARVEC_BLOCK_BITS || !(meta->longest >= 0)) {
    status_corrupted(index, 0, "its numbers cannot be");
  }
  return meta;
}

static Buffer locked(Relation index, int mode) {
  if (RelationGetNumberOfBlocks(index) == 0) status_corrupted(index, 0, "it is not there");
  const Buffer buffer = ReadBuffer(index, 0);
  LockBuffer(buffer, mode);
  return buffer;
}

StatusMeta status_meta(Relation index) {
  const Buffer buffer = locked(index, BUFFER_LOCK_SHARE);
  const StatusMeta copy = *status_meta_of(index, buffer);
  UnlockReleaseBuffer(buffer);
  return copy;
}

static uint64 random_number(void) {
  uint64 number = 0;
  while (number == 0) {
    if (!pg_strong_random(&number, sizeof number)) {
      ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("there are no random numbers")));
    }
  }
  return number;
}

uint64 place_of(Relation index) {
  const char* node = node_of(index);
  if (node == NULL) return 0;
  return hash_bytes_extended((const unsigned char*)node, (int)strlen(node), 0);
}

static void fill_meta_page(Page page, Relation index, const StoreShape* shape, uint64 number) {
  PageInit(page, BLCKSZ, 0);
  StatusMeta* meta = status_meta_in(page);
  *meta = (StatusMeta){.magic = MAGIC,
                       .version = VERSION,
                       .number = number,
                       .place = place_of(index),
                       .shape = *shape,
                       .generation = 1,
                       .lacks_from = kNoVid,
                       .lacks_again = kNoVid};
  ((PageHeader)page)->pd_lower = (LocationIndex)((char*)(meta + 1) - (char*)page);
}

// The init fork has WAL although the index is unlogged, because it is copied after a crash.
static void create_init(Relation index, Buffer buffer, const StoreShape* shape) {
  START_CRIT_SECTION();
  fill_meta_page(BufferGetPage(buffer), index, shape, 0);
  MarkBufferDirty(buffer);
  log_newpage_buffer(buffer, true);
  END_CRIT_SECTION();
}

static void create_main(Relation index, Buffer buffer, const StoreShape* shape) {
  const uint64 number = random_number();
  GenericXLogState* record = GenericXLogStart(index);
  fill_meta_page(GenericXLogRegisterBuffer(record, buffer, GENERIC_XLOG_FULL_IMAGE), index, shape,
                 number);
  GenericXLogFinish(record);
}

void status_create(Relation index, ForkNumber fork, const StoreShape* shape) {
  const Buffer buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
  if (BufferGetBlockNumber(buffer) != 0) {
    ReleaseBuffer(buffer);
    status_corrupted(index, 0, "a new index has pages already");
  }
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  if (fork == INIT_FORKNUM) {
    create_init(index, buffer, shape);
  } else {
    create_main(index, buffer, shape);
  }
  UnlockReleaseBuffer(buffer);
}

// One change of the meta page, which is written where `change` answers that there is one.
static void change_meta(Relation index, bool (*change)(StatusMeta*, void*), void* argument) {
  const Buffer buffer = locked(index, BUFFER_LOCK_EXCLUSIVE);
  status_meta_of(index, buffer);
  GenericXLogState* record = GenericXLogStart(index);
  if (change(status_meta_in(GenericXLogRegisterBuffer(record, buffer, 0)), argument)) {
    GenericXLogFinish(record);
  } else {
    GenericXLogAbort(record);
  }
  UnlockReleaseBuffer(buffer);
}

static bool number_it(StatusMeta* meta, void* number) {
  if (meta->number != 0) return false;
  meta->number = *(uint64*)number;
  return true;
}

void status_number(Relation index) {
  uint64 number = random_number();
  change_meta(index, number_it, &number);
}

static bool move(StatusMeta* meta, void* place) {
  if (meta->place == *(uint64*)place) return false;
  meta->place = *(uint64*)place;
  meta->lacks_from = 0;
  meta->lacks_again = 0;
  return true;
}

void status_moved(Relation index) {
  uint64 place = place_of(index);
  change_meta(index, move, &place);
}

static bool lower_lacks(StatusMeta* meta, void* argument) {
  const uint64 vid = *(uint64*)argument;
  const bool is_new = vid < meta->lacks_from || vid < meta->lacks_again;
  meta->lacks_from = Min(meta->lacks_from, vid);
  meta->lacks_again = Min(meta->lacks_again, vid);
  return is_new;
}

void status_lacks(Relation index, uint64 vid) {
  change_meta(index, lower_lacks, &vid);
}

typedef struct Notes {
  uint32 kinds;
  double length;
} Notes;

static bool is_noted(const StatusMeta* meta, const Notes* notes) {
  return (notes->kinds & ~meta->kinds) == 0 && notes->length <= meta->longest;
}

// A length is rounded up, so that few vectors are longer than those before them.
static bool note(StatusMeta* meta, void* argument) {
  const Notes* notes = argument;
  if (is_noted(meta, notes)) return false;
  meta->kinds |= notes->kinds;
  if (notes->length > meta->longest) meta->longest = notes->length * 1.25;
  return true;
}

void status_notes(Relation index, uint32 kinds, double length) {
  Notes notes = {kinds, length};
  const StatusMeta meta = status_meta(index);
  if (!is_noted(&meta, &notes)) change_meta(index, note, &notes);
}

static bool begin_again(StatusMeta* meta, void* unused) {
  (void)unused;
  const bool is_change = meta->lacks_again != kNoVid;
  meta->lacks_again = kNoVid;
  return is_change;
}

// Entries come into the page that is being filled, which was begun last. Where it has none, all of
// its VIDs are still to come: a standby's replay may be between the record that begins a page and
// those that fill it.
static uint64 next_vid(Relation index, const StatusMeta* meta) {
  if (meta->filling == 0) return vid_of(meta->generation, 0, 0);
  StatusPage* page = palloc(sizeof *page);
  status_read(index, meta->filling, NULL, page);
  const uint64 next = page->used == 0 ? vid_of(meta->generation - 1, meta->filling, 0)
                                      : vid_of(page->generation, page->block, page->used - 1) + 1;
  pfree(page);
  return next;
}

uint64 status_begin_catching_up(Relation index, bool writes) {
  if (writes) change_meta(index, begin_again, NULL);
  const StatusMeta meta = status_meta(index);
  return next_vid(index, &meta);
}

static bool caught_up(StatusMeta* meta, void* unused) {
  (void)unused;
  const bool is_change = meta->lacks_from != meta->lacks_again;
  meta->lacks_from = meta->lacks_again;
  return is_change;
}

void status_caught_up(Relation index) {
  change_meta(index, caught_up, NULL);
}
