// This header has what is asked of an engine through a channel, and what it answers. Numbers are
// the machine's own: both sides run on it. Names of types and metrics, and the statuses of answers,
// are the numbers of farvec.h, and ASK_DISK_FULL.
//
// An answer with another status than 0 is a text without a zero at its end, which says why.
#ifndef FARVEC_POSTGRES_CHANNEL_REQUESTS_H
#define FARVEC_POSTGRES_CHANNEL_REQUESTS_H

#include <assert.h>
#include <stdint.h>

// Grows with each change of this header, so that an engine and an extension of two installations
// know each other.
#define ASK_VERSION 4

// The status of what failed because a disk of the engine is full.
#define ASK_DISK_FULL 101

// The most rows of a search, and the longest list of candidates.
#define ASK_MOST_ROWS 2048
// The most rows of an answer: several may have one vector.
#define ASK_MOST_FOUND 6000
#define ASK_MOST_COLUMNS 32
// Bytes of the word of a tier, with the zero at its end, and of what is said of its device.
#define ASK_TIER_BYTES 104
#define ASK_DEVICE_BYTES 256

typedef enum AskOperation {
  kAskOpen = 1,   // AskOpen: makes the index where it is not there; answers ToldState
  kAskState = 2,  // AskedIndex; answers ToldState
  // AskRows, VIDs, vectors one after the other, tuples; answers a byte where a build has no room
  // for them now: they are to come again after kAskRoom
  kAskInsert = 3,
  kAskErase = 4,     // AskRows, VIDs
  kAskCovers = 5,    // AskVid
  kAskLacks = 6,     // AskLacks, AskPages; answers AskBits for each page: VIDs that lack
  kAskSearch = 7,    // AskSearch, the query, the filter; answers ToldFound, VIDs, distances
  kAskDrop = 8,      // AskedIndex
  kAskList = 9,      // AskList; answers ToldList, AskedIndexes
  kAskSummary = 10,  // nothing; answers ToldSummary
  kAskGet = 11,    // AskRows, VIDs; answers a byte for each, 1 where it is there, and those vectors
  kAskBuild = 12,  // AskRows without rows: makes the last segment until the deadline; ToldBuild
  kAskSame = 13,   // AskRows, VIDs, tuples; answers a byte for each, 0 where it has other values
  // What kAskInsert is, for rows whose vectors are probably there: former versions have them.
  kAskInsertAgain = 14,
  kAskTell = 15,  // like kAskInsert: rows that lack, many together, of which none waits for links
  // AskRows without rows: waits until the deadline for a build's room; answers ToldBuild
  kAskRoom = 16,
  kAskPlace = 17  // AskedIndex; answers ToldPlace
} AskOperation;

typedef enum AskBegins {
  kAskKeeps = 0,   // nothing is removed
  kAskBegins = 1,  // the index is empty then
  kAskBuilds = 2   // and rows wait to become segments, the last ones until kAskBuild
} AskBegins;

// How records lie. An index that is there keeps its own until it is made again.
typedef enum AskLayout {
  kAskUsualLayout = 0,
  kAskCsr = 1,
  kAskPacked = 2,
  kAskInline = 3,
  kAskSlotted = 4  // on a disk alone
} AskLayout;

// Which index it is.
typedef struct AskedIndex {
  uint64_t number;
  uint32_t tablespace;
  uint32_t database;
  uint32_t file;
  uint32_t zero;
} AskedIndex;

typedef struct AskOpen {
  AskedIndex index;
  int32_t type;
  int32_t metric;
  uint32_t dimension;
  uint32_t degree;  // 0: the usual one; so the next
  uint32_t build_list;
  uint32_t begins;  // what the index has is removed first: an AskBegins
  // Types of the columns that rows have beside their vectors, as layout/attributes/schema.h numbers
  // them; 0 after the last. Conditions name them c1, c2 and so on.
  uint8_t columns[ASK_MOST_COLUMNS];
  uint64_t pool_bytes;  // the index's own pool for slotted pages; 0: it shares the engine's
  uint32_t layout;      // an AskLayout
  uint32_t code_bits;   // one more than the bits of a dimension; 0: as many as the rows need
  // The word of a tier, and zeros; empty: the usual one. An index that is open on another tier is
  // opened again.
  char tier[ASK_TIER_BYTES];
} AskOpen;

typedef struct AskRows {
  AskedIndex index;
  uint32_t count;
  uint32_t row_bytes;    // bytes of a vector; 0 where none come
  uint32_t deadline_ms;  // how long to wait for room
  // What follows where it is not 0: the end of each row's tuple (layout/attributes/tuple.h), 4
  // bytes each, and then these bytes of tuples.
  uint32_t tuple_bytes;
} AskRows;

typedef struct AskVid {
  AskedIndex index;
  uint64_t vid;
  uint32_t ready;    // 1 where all later inserts are told too
  uint32_t opening;  // the ToldState's before anything was told: another is told nothing; 0: any
} AskVid;

// A VID is the number of a page and a place in it. Rows of a page have one generation, so the
// numbers grow with time.
#define ASK_PLACE_BITS 10
#define ASK_PAGE_WORDS ((1 << ASK_PLACE_BITS) / 64)

typedef struct AskBits {
  uint64_t words[ASK_PAGE_WORDS];  // bit i % 64 of word i / 64 is of place i
} AskBits;

// A page with the VIDs that live. Those of the page that do not, and are in the index, are erased,
// where they are not less than `from`, and less than `until`.
typedef struct AskPage {
  uint64_t number;
  AskBits live;
} AskPage;

#define ASK_MOST_PAGES 512

// What pages are in a pass over all that there are.
#define ASK_PASS_BEGINS 1u  // the first ones
#define ASK_PASS_ENDS 2u    // the last ones: rows of pages that were not told since then go

typedef struct AskLacks {
  AskedIndex index;
  uint64_t from;
  uint64_t until;
  uint64_t number;  // which pass over all pages it is: no other one has the number
  uint32_t count;   // how many pages follow, at most ASK_MOST_PAGES
  uint32_t pass;    // ASK_PASS_BEGINS and ASK_PASS_ENDS; 0: others of it, or there is no pass
} AskLacks;

typedef struct AskSearch {
  AskedIndex index;
  uint32_t k;     // 1 to ASK_MOST_ROWS vectors; all rows that have them come
  uint32_t list;  // to ASK_MOST_ROWS; where it is less than k, k
  uint32_t query_bytes;
  uint32_t filter_bytes;  // 0: there is none
  uint32_t deadline_ms;
  uint32_t zero;
} AskSearch;

typedef struct AskList {
  AskedIndex after;  // lists those after it; zeros: from the first on
} AskList;

typedef struct ToldState {
  uint64_t covered;
  uint64_t rows;
  uint64_t bytes;    // on the disk
  uint64_t memory;   // that it takes in the engine
  uint32_t ready;    // 0 or 1
  uint32_t opening;  // not 0; another one whenever the index was opened again
} ToldState;

typedef struct ToldPlace {
  char tier[ASK_TIER_BYTES];      // where it is open, and zeros
  char device[ASK_DEVICE_BYTES];  // the device with its numbers where it is modelled, and zeros
  uint64_t pool;                  // bytes that pools of slotted pages may take; 0: there is none
  uint64_t pool_used;             // that they take now
  uint64_t loaded;                // bytes of segments that are in memory
  uint32_t layout;                // an AskLayout
  uint32_t code_bits;             // one more than the bits, 0: as many as rows need
  uint32_t segments;
  uint32_t zero;
} ToldPlace;

typedef struct ToldBuild {
  uint64_t rows;      // that came
  uint64_t linked;    // rows of these
  uint32_t finished;  // 0: a segment is under way; 1
  uint32_t zero;
} ToldBuild;

typedef struct ToldFound {
  uint32_t count;
  uint32_t complete;  // 1: there are no more rows than these
  uint64_t hops;
  uint64_t reads;
  uint64_t bytes;
  uint64_t estimates;
  uint64_t distances;
  uint64_t matches;  // rows that meet the filter; greater than `count` where others may be left
  uint64_t walks;
  uint64_t scans;
  uint64_t took_ns;  // the search itself, on its core
} ToldFound;

typedef struct ToldList {
  uint32_t count;
  uint32_t more;  // 1: there are others after the last one
} ToldList;

typedef struct ToldSummary {
  uint64_t memory;        // that open indexes take
  uint64_t memory_limit;  // --memory
  uint32_t indexes;       // folders
  uint32_t open;
} ToldSummary;

static_assert(sizeof(AskedIndex) == 24 && sizeof(AskOpen) == 200 && sizeof(AskRows) == 40 &&
                  sizeof(AskVid) == 40 && sizeof(AskSearch) == 48 && sizeof(AskList) == 24 &&
                  sizeof(ToldState) == 40 && sizeof(ToldBuild) == 24 && sizeof(ToldFound) == 80 &&
                  sizeof(ToldList) == 8 && sizeof(ToldSummary) == 24 && sizeof(AskBits) == 128 &&
                  sizeof(AskPage) == 136 && sizeof(AskLacks) == 56 && sizeof(ToldPlace) == 400,
              "requests have changed: raise ASK_VERSION, and then these sizes");

#endif
