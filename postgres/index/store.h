// A store holds the vectors of an index by VID, outside PostgreSQL (docs/decisions/063). The access
// method knows stores by this header alone.
//
// A VID's vector never changes: to insert it again is harmless, and so is to erase it again or to
// erase what is not there. Stores know nothing of rows and snapshots.
#ifndef FARVEC_POSTGRES_INDEX_STORE_H
#define FARVEC_POSTGRES_INDEX_STORE_H

#include <postgres.h>

#include <utils/relcache.h>

#include "client/c/farvec.h"
#include "postgres/library.h"

#define FARVEC_PLACE_BITS 10  // the last bits of a VID: its place in its page (status.h)

#define kCoversAll PG_UINT64_MAX
#define kNotKnown PG_UINT64_MAX

// Which index it is. All members differ from those of any copy of the index's pages.
typedef struct StoreIdentity {
  uint64 number;  // random, made when the index was built; in the meta page
  Oid tablespace;
  Oid database;
  Oid file;   // relfilenode
  Oid index;  // pg_class.oid, which stays when the index is built again
} StoreIdentity;

// What the store is made for; fixed when the index is built.
typedef struct StoreShape {
  int32 type;    // a farvec_type of the vectors that are given to it
  int32 metric;  // a farvec_metric
  uint32 dimension;
  uint32 degree;      // 0: the store's usual one; so the next
  uint32 build_list;  // candidates of an insert
} StoreShape;

#define FARVEC_TIER_BYTES 104  // the word of a tier, with the zero at its end
#define FARVEC_DEVICE_BYTES 256

// Where an index is to lie in the server's engine. Its bytes are compared.
typedef struct StorePlacing {
  uint64 pool_bytes;             // its own pool for slotted pages; 0: it shares one
  uint32 layout;                 // an AskLayout
  uint32 code_bits;              // one more than the bits of a dimension; 0: not said
  char tier[FARVEC_TIER_BYTES];  // empty: the usual one
} StorePlacing;

// Where it lies.
typedef struct StorePlace {
  char tier[FARVEC_TIER_BYTES];
  char device[FARVEC_DEVICE_BYTES];  // empty: it is not modelled
  uint64 pool;                       // bytes that pools of slotted pages may take
  uint64 pool_used;
  uint64 loaded;  // bytes of segments that are in memory
  uint32 layout;
  uint32 code_bits;
  uint32 segments;
} StorePlace;

// Types of columns, as layout/attributes/schema.h has them.
#define FARVEC_COLUMN_I64 2
#define FARVEC_COLUMN_F64 3
#define FARVEC_COLUMN_BOOL 4
#define FARVEC_COLUMN_TIMESTAMP 5
#define FARVEC_COLUMN_STRING 6
#define FARVEC_COLUMN_SET 7

#define FARVEC_COLUMN_NAME 63  // bytes of a name that is made, without a sign that tells it apart

// A column after the vector.
typedef struct StoreColumn {
  char name[FARVEC_COLUMN_NAME + 2];  // for conditions
  int32 type;
  Oid sql_type;  // its class of operators is for this type
} StoreColumn;

typedef struct StoreColumns {
  uint32 count;
  StoreColumn columns[INDEX_MAX_KEYS - 1];
} StoreColumns;

// The values of the columns of several rows, one after the other. Each is a tuple of
// layout/attributes/tuple.h.
typedef struct StoreTuples {
  const char* bytes;
  const uint32* ends;  // where each row's end in `bytes`
} StoreTuples;

static inline uint32 tuple_begin(const StoreTuples* tuples, size_t row) {
  return row == 0 ? 0 : tuples->ends[row - 1];
}

// Places of a page of entries: bit i % 64 of word i / 64 is of place i.
typedef struct StoreBits {
  uint64 words[1 << FARVEC_PLACE_BITS >> 6];
} StoreBits;

// A page of entries, for a comparison. Its number is that of its VIDs, without their places.
typedef struct StorePage {
  uint64 number;
  StoreBits live;  // entries with vectors that the store should have
} StorePage;

// What is compared: VIDs from `from` on that are less than `until`.
typedef struct StorePass {
  uint64 from;
  uint64 until;
  uint64 number;  // no other pass over all pages has it
  bool begins;    // the pages are the first ones of all that there are
  bool ends;      // they are the last ones
} StorePass;

typedef struct StoreState {
  // Everything with a smaller VID that was not erased is in the store, whatever happened. Valid
  // when `ready` is false too. kCoversAll: the store keeps all that it was ever told.
  uint64 covered;
  // All that is inserted from now on is kept until the store or the server ends, and nothing that
  // was told since `covered` was read has been lost.
  bool ready;
  // What it holds is of another index: begin() comes before anything is inserted, and `covered` is
  // 0.
  bool foreign;
  uint64 rows;
  uint64 bytes;  // on disks and memory nodes; 0: unknown
} StoreState;

typedef struct StoreFound {
  uint64 vid;
  float distance;  // the farvec_metric's
} StoreFound;

typedef struct StoreSearchOptions {
  uint32 k;     // rows that are wanted first
  uint32 list;  // candidates of a graph
  const char* filter;
} StoreSearchOptions;

#define kStoreNotReady ((size_t)-1)

typedef struct Store Store;              // a backend's; it is kept until the backend ends
typedef struct StoreSearch StoreSearch;  // freed with the memory context in which it was begun

// Functions end with an error where the store is away, fails, or the query was cancelled, unless
// their comment says otherwise. Each waits with `patience`, and an interrupt ends its waits.
typedef struct StoreKind {
  const char* name;
  // A server and its standbys have one store together, which the primary alone changes.
  bool is_shared;
  // Its distances are those of the vectors that it was given, up to the rounding of floats.
  bool has_true_distances;

  // The store of an index. `place` is the node's address, or NULL. Ends with an error where the
  // store cannot have this shape, or `owner`, who owns the index, may not use the place. `columns`
  // are copied.
  Store* (*open)(const StoreIdentity* identity, const StoreShape* shape,
                 const StoreColumns* columns, const char* place, Oid owner, Patience* patience);
  // Says where an index that was opened is to lie. It moves there the next time that the store is
  // asked; a layout is that of an index which is made after this. NULL: the store has one place.
  void (*lie)(Store* store, const StorePlacing* placing);
  // Asks where it lies. Answers false, with the reason in `error`, where the store is away. NULL:
  // it cannot be said.
  bool (*place)(Store* store, StorePlace* place, Patience* patience, farvec_error* error);

  // Makes the store empty and this index's own. Ends with an error where what it holds belongs to
  // another index that is still there. No other backend uses the store meanwhile. `is_build` tells
  // a build from catching up with a store that is `foreign`.
  void (*begin)(Store* store, bool is_build, Patience* patience);
  // Makes the index of the rows that were inserted since a build began. Answers false after a while
  // where it has not come to its end, with the rows that are done: it is called again. NULL: the
  // store does so by itself.
  bool (*build)(Store* store, uint64* done, Patience* patience);

  StoreState (*state)(Store* store, Patience* patience);
  // Answers, without asking the store, whether it was ready when this backend asked last, and has
  // not been started again since. A search then says where that is so no longer. NULL: no.
  bool (*was_ready)(const Store* store);

  // Answers whether a store is there now, at once and without an error: for the planner.
  bool (*is_there)(const StoreIdentity* identity, const char* place);

  // Inserts vectors, which lie one after the other, with the values of their columns, where there
  // are columns. Answers false, with the reason in `error`, where the store is away or has no room
  // for them now; some of them may be in.
  bool (*insert)(Store* store, const uint64* vids, const void* vectors, StoreTuples tuples,
                 size_t count, Patience* patience, farvec_error* error);
  // The same for rows whose vectors the store probably has, because former versions of them have
  // these. NULL: it is no different.
  bool (*insert_again)(Store* store, const uint64* vids, const void* vectors, StoreTuples tuples,
                       size_t count, Patience* patience, farvec_error* error);
  bool (*erase)(Store* store, const uint64* vids, size_t count, Patience* patience,
                farvec_error* error);

  // Says that everything with a smaller VID is in the store now. With `ready`, each later insert is
  // told to the store too; on a standby no backend does, and the store is asked to cover more
  // before each search. NULL: the store has no watermark.
  void (*covers)(Store* store, uint64 vid, bool ready, Patience* patience);
  // Compares pages with what is in the store: writes for each which of its living entries lack.
  // Vectors of the pages that have no living entry are erased. With `ends`, so is all that is on no
  // page that came since `begins`. NULL: the store cannot, and may lack all of the range.
  void (*lacks)(Store* store, const StorePage* pages, size_t count, const StorePass* pass,
                StoreBits* lacks, Patience* patience);
  // Inserts many rows that lack, as insert() does. NULL: insert() is for these too. The last of
  // them may be under way when it returns; those of the call before are in then, and told() waits
  // until all are.
  bool (*tell)(Store* store, const uint64* vids, const void* vectors, StoreTuples tuples,
               size_t count, Patience* patience, farvec_error* error);
  bool (*told)(Store* store, Patience* patience, farvec_error* error);
  // Gives up what is under way, where an error ends the telling.
  void (*forget_told)(Store* store);
  // How many rows without columns one call of tell() best has.
  size_t (*rows_at_once)(const Store* store);

  // Reads vectors, to compare them: writes a byte for each VID, 1 where it is there, and one vector
  // for each VID, of any bytes where it is not there. Vectors of FARVEC_COSINE may have another
  // length than those inserted. NULL: the store cannot.
  void (*get)(Store* store, const uint64* vids, size_t count, bool* found, void* vectors,
              Patience* patience);

  // Compares the values of columns: writes a byte for each VID, 1 where the store has these, or has
  // no such row. NULL: the store cannot.
  void (*compare)(Store* store, const uint64* vids, StoreTuples tuples, size_t count, bool* same,
                  Patience* patience);

  // A search, which lives in the current memory context. Waits for nothing.
  StoreSearch* (*search)(Store* store, const void* query, const StoreSearchOptions* options);
  // The next rows, nearest first, at most `most`; none of them comes twice. 0: there are no more,
  // or the store allows no longer search. kStoreNotReady, of the first call alone: the store has to
  // catch up first.
  size_t (*next)(StoreSearch* search, StoreFound* found, size_t most, Patience* patience);
  // What the search did until now. `matches` is how many rows meet the filter; kNotKnown: some may
  // be left that no search finds.
  void (*counts)(const StoreSearch* search, farvec_counts* counts);

  // Removes the store, when its index is gone for good, or was not made. Waits a second at most,
  // and ends with no error where the store is away. NULL: not needed.
  void (*drop)(const StoreIdentity* identity, const char* place);
} StoreKind;

extern const StoreKind kNodeStore;    // a compute node: `place` is its address
extern const StoreKind kEngineStore;  // the server's engine

#endif
