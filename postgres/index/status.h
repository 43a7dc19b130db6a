// This header has the status pages of an index: which VID stands for which row
// (docs/decisions/063).
//
// Block 0 is the meta page. Each other page is new, of zeros, or has entries of one generation.
// What is read from a page is checked; a damaged one ends with ERRCODE_INDEX_CORRUPTED.
#ifndef FARVEC_POSTGRES_INDEX_STATUS_H
#define FARVEC_POSTGRES_INDEX_STATUS_H

#include <postgres.h>

#include <common/relpath.h>
#include <storage/block.h>
#include <storage/buf.h>
#include <storage/bufpage.h>
#include <storage/itemptr.h>
#include <utils/relcache.h>

#include "postgres/index/store.h"

#define kNoVid PG_UINT64_MAX

#define FARVEC_BLOCK_BITS 25
#define FARVEC_MAX_GENERATION ((1u << 28) - 1)

static inline uint64 vid_of(uint32 generation, BlockNumber block, uint32 place) {
  return (uint64)generation << (FARVEC_BLOCK_BITS + FARVEC_PLACE_BITS) |
         (uint64)block << FARVEC_PLACE_BITS | place;
}
static inline uint32 vid_generation(uint64 vid) {
  return (uint32)(vid >> (FARVEC_BLOCK_BITS + FARVEC_PLACE_BITS));
}
static inline BlockNumber vid_block(uint64 vid) {
  return (BlockNumber)(vid >> FARVEC_PLACE_BITS) & ((1u << FARVEC_BLOCK_BITS) - 1);
}
static inline uint32 vid_place(uint64 vid) {
  return (uint32)vid & ((1u << FARVEC_PLACE_BITS) - 1);
}

// Flags of an entry. A null or an unfit vector is in no store.
#define FARVEC_DEAD 1u    // no snapshot sees the row any more
#define FARVEC_ERASED 2u  // and the store has been told
#define FARVEC_NULL 4u
#define FARVEC_UNFIT \
  8u  // floats do not compare it: a zero vector under cosine, or one of 1e18 and longer
#define FARVEC_FLAGS 15u

#define FARVEC_STORELESS (FARVEC_NULL | FARVEC_UNFIT)

typedef struct StatusEntry {
  BlockNumber block;  // the TID of the row
  OffsetNumber offset;
  uint16 flags;
} StatusEntry;

// At the end of a page of entries.
typedef struct StatusSpecial {
  uint32 magic;
  uint32 generation;
  uint64 start;  // the start of the server in which the page was begun
  uint16 used;   // entries
  uint16 unused;
  uint32 unused_too;
} StatusSpecial;

#define FARVEC_ENTRIES_PER_PAGE                                                  \
  ((BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(StatusSpecial))) / \
   sizeof(StatusEntry))

// What the meta page says.
typedef struct StatusMeta {
  uint32 magic;
  uint32 version;
  uint64 number;  // the StoreIdentity's; 0: the pages are those of an unlogged index after a crash
  uint64 place;   // a hash of where the store is, as it was last seen: place_of()
  StoreShape shape;
  uint32 generation;    // the page that is begun next takes this one; at least 1
  BlockNumber filling;  // the page that is being filled; 0: none
  uint32 kinds;         // FARVEC_NULL and FARVEC_UNFIT where such entries were ever written
  // The smallest VID that the store may lack, because it was not told, and the smallest since the
  // last catching up began. kNoVid: none.
  uint64 lacks_from;
  uint64 lacks_again;
  double longest;  // no vector was longer
} StatusMeta;

// A copy of one page of entries.
typedef struct StatusPage {
  BlockNumber block;
  uint32 generation;
  uint32 used;  // 0: the page is new
  StatusEntry entries[FARVEC_ENTRIES_PER_PAGE];
} StatusPage;

// ---- Meta page ----

// Writes the meta page of an index without pages, or of its init fork.
void status_create(Relation index, ForkNumber fork, const StoreShape* shape);

// A checked copy.
StatusMeta status_meta(Relation index);

// Gives an unlogged index that lost its pages in a crash a number of its own.
void status_number(Relation index);

// Remembers that the store may lack this VID and greater ones.
void status_lacks(Relation index, uint64 vid);

// A hash of where the index has its store now.
uint64 place_of(Relation index);
// Remembers that the store is elsewhere than before. Nothing is known of what it has.
void status_moved(Relation index);

// Remembers that such entries and such a length are there. Writes where that is new.
void status_notes(Relation index, uint32 kinds, double length);

// Begins to count anew what the store lacks, and answers how far all VIDs are known: each VID that
// was given out is smaller. The caller holds the delivery lock exclusively. `writes` is false on a
// standby.
uint64 status_begin_catching_up(Relation index, bool writes);

// Says that the store lacks nothing but what was not told since catching up began.
void status_caught_up(Relation index);

// ---- Entries ----

// Writes entries, and their VIDs. `durable`: no VID comes again for another row, even after a crash
// that loses these entries. An index that is being built goes with such a crash.
void status_add(Relation index, const StatusEntry* entries, uint64* vids, size_t count,
                bool durable);

// A checked copy of a page of entries. `strategy` may be NULL.
void status_read(Relation index, BlockNumber block, BufferAccessStrategy strategy,
                 StatusPage* page);

// The row of a VID: false where it is dead, or the VID is of nothing that is there.
bool status_find(Relation index, uint64 vid, StatusEntry* entry);

// Sets flags of a page's entries at places, unless the page has another generation meanwhile.
// Answers whether it set them. With `flushed` they are durable when it returns.
bool status_mark(Relation index, BlockNumber block, uint32 generation, const uint16* places,
                 size_t count, uint16 flags, bool flushed);

// The number of blocks of the index, with the meta page.
BlockNumber status_blocks(Relation index);

static inline bool status_is_live(const StatusEntry* entry) {
  return (entry->flags & FARVEC_DEAD) == 0;
}

static inline bool status_is_settled(const StatusEntry* entry) {
  return (entry->flags & FARVEC_DEAD) != 0 &&
         (entry->flags & (FARVEC_ERASED | FARVEC_STORELESS)) != 0;
}

// ---- For the files of status pages alone ----

void status_corrupted(Relation index, BlockNumber block, const char* what);
// The meta page in a locked buffer, checked.
StatusMeta* status_meta_of(Relation index, Buffer buffer);
StatusMeta* status_meta_in(Page page);
// Ends with an error unless the page can be a page of entries.
void status_check_page(Relation index, Buffer buffer);

static inline StatusSpecial* status_special(Page page) {
  return (StatusSpecial*)PageGetSpecialPointer(page);
}
static inline StatusEntry* status_entries(Page page) {
  return (StatusEntry*)PageGetContents(page);
}

#endif
