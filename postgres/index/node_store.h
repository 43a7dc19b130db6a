// This header has what the files of the store on a compute node share.
#ifndef FARVEC_POSTGRES_INDEX_NODE_STORE_H
#define FARVEC_POSTGRES_INDEX_NODE_STORE_H

#include <postgres.h>

#include <datatype/timestamp.h>
#include <utils/timestamp.h>

#include "postgres/connections.h"
#include "postgres/index/store.h"

// Ids that are no VIDs are marks: two rows of the collection that say whose it is.
#define FARVEC_FIRST_MARK (UINT64CONST(1) << 63)
#define FARVEC_MARKS 2

// Whose a collection is, is asked again after this time: another one may be served.
#define FARVEC_OWNED_FOR_MS 1000

typedef struct StoreKey {
  StoreIdentity identity;
  char place[FARVEC_MAX_ADDRESS + 1];
} StoreKey;

struct Store {
  StoreKey key;  // bytes between and after members are 0
  StoreShape shape;
  StoreColumns columns;
  Oid owner;
  TimestampTz owned_at;   // when the collection was last seen to be this index's; 0: never
  uint64 owners;          // SharedState.owners then
  TimestampTz failed_at;  // when nothing answered; 0: it answered since
};

// What a collection is for an index.
typedef enum Ownership { kOwn, kEmpty, kOfOldPages, kOfGone, kOfOther } Ownership;

// The connection, to a node that serves what the index needs; NULL with an error.
Connection* reach_node(Store* store, Patience* patience, farvec_error* error);

// Reads rows by their ids, one for each. rows_free() frees them. Ends with an error where the node
// does not answer so.
farvec_rows* rows_of_node(Store* store, const uint64* vids, size_t count, Patience* patience);

// Answers whether the collection was this index's, no longer ago than a second. Writes an error
// where it is not, or the node does not answer.
bool is_own(Store* store, Connection* node, Patience* patience, farvec_error* error);
// Answers so, and asks the node in any case.
bool is_own_now(Store* store, Connection* node, Patience* patience, farvec_error* error);

// Whose the collection is; ends with an error where the node does not answer.
Ownership ownership_of(Store* store, Connection* node, Patience* patience);

// StoreKind.begin of a node.
void begin_node(Store* store, bool is_build, Patience* patience);

// Remembers whether the node answered, for plans.
static inline void note_answer(Store* store, farvec_status status) {
  store->failed_at = status == FARVEC_UNAVAILABLE ? GetCurrentTimestamp() : 0;
}

static inline void raise_node_error(Store* store, const farvec_error* error,
                                    const Patience* patience) {
  note_answer(store, error->status);
  raise_library_error(error, store->key.place, patience);
}

// Repeats a call of the library until its end is not an interruption.
#define FARVEC_CALL(patience, status, call)     \
  do {                                          \
    const farvec_wait wait = wait_of(patience); \
    status = (call);                            \
  } while (is_to_repeat(patience, status))

// Columns (node_columns.c). Ends with an error, which says how to make a collection, where that of
// the node has not the columns.
void check_node_columns(Store* store, Connection* node, Patience* patience);
// The JSON objects of rows, in the current context; NULL where there are no columns.
const char** objects_of(const StoreColumns* columns, StoreTuples tuples, size_t count);
void compare_on_node(Store* store, const uint64* vids, StoreTuples tuples, size_t count, bool* same,
                     Patience* patience);

// Searches (node_search.c).
StoreSearch* search_node(Store* store, const void* query, const StoreSearchOptions* options);
size_t next_of_node(StoreSearch* search, StoreFound* found, size_t most, Patience* patience);
void counts_of_node(const StoreSearch* search, farvec_counts* counts);

#endif
