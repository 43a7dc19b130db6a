// Whose a collection of a compute node is. Two of its rows tell: their ids are marks, greater than
// any VID. One is of the index as such, and stays the same when it is built again. The other is of
// the pages that the index has now.
#include <postgres.h>

#include <access/xlog.h>
#include <common/hashfn.h>
#include <utils/syscache.h>
#include <utils/timestamp.h>

#include "postgres/half.h"
#include "postgres/index/index.h"
#include "postgres/index/node_store.h"
#include "postgres/shared.h"

#define HALF_ONE 0x3C00

// The bit below the first one tells the two marks apart.
#define MARK_BITS (FARVEC_FIRST_MARK >> 1)

static uint64 hash_of(const void* bytes, Size size, uint64 seed) {
  return hash_bytes_extended(bytes, (int)size, seed);
}

// The index as such: this cluster's, this database's, of this name.
static uint64 index_mark(const StoreIdentity* identity) {
  const uint64 parts[] = {GetSystemIdentifier(), identity->database};
  const uint64 hash = hash_of(parts, sizeof parts, 1) & ((1u << 30) - 1);
  return FARVEC_FIRST_MARK | hash << 32 | identity->index;
}

static uint64 pages_mark(const StoreIdentity* identity) {
  const uint64 parts[] = {identity->number, identity->tablespace, identity->database,
                          identity->file};
  return FARVEC_FIRST_MARK | MARK_BITS | (hash_of(parts, sizeof parts, 2) & (MARK_BITS - 2));
}

static bool set_error(farvec_error* error, farvec_status status, const char* message) {
  error->status = status;
  strlcpy(error->message, message, sizeof error->message);
  return false;
}

// The marks that are there, and how many rows.
static farvec_rows* list_marks(Store* store, Connection* node, Patience* patience) {
  farvec_rows* rows = NULL;
  farvec_error error;
  farvec_status status;
  FARVEC_CALL(patience, status,
              library()->list(node->handle, NULL, FARVEC_FIRST_MARK, 2 * FARVEC_MARKS, &wait, &rows,
                              &error));
  if (status != FARVEC_OK) raise_node_error(store, &error, patience);
  return rows;
}

// Rows of ones, which every type and metric can have.
static void* marked_vectors(const StoreShape* shape) {
  char* vectors = palloc0(FARVEC_MARKS * vector_size(shape));
  const size_t elements = (size_t)FARVEC_MARKS * shape->dimension;
  for (size_t i = 0; i < elements && shape->type == FARVEC_F32; i++) ((float*)vectors)[i] = 1;
  for (size_t i = 0; i < elements && shape->type == FARVEC_F16; i++) {
    ((uint16*)vectors)[i] = HALF_ONE;
  }
  for (size_t i = 0; i < FARVEC_MARKS && shape->type == FARVEC_B1; i++) {
    vectors[i * vector_size(shape)] = 1;
  }
  return vectors;
}

static void insert_marks(Store* store, Connection* node, Patience* patience) {
  const uint64 marks[FARVEC_MARKS] = {index_mark(&store->key.identity),
                                      pages_mark(&store->key.identity)};
  const farvec_vectors rows = {marked_vectors(&store->shape), FARVEC_MARKS, store->shape.dimension,
                               store->shape.type};
  farvec_error error;
  farvec_status status;
  FARVEC_CALL(patience, status,
              library()->insert(node->handle, &rows, marks, NULL, &wait, NULL, &error));
  if (status != FARVEC_OK) raise_node_error(store, &error, patience);
}

// The marks of the index's pages and of the index, which are there or not.
static farvec_status find_marks(Store* store, Connection* node, bool* found, Patience* patience,
                                farvec_error* error) {
  const uint64 marks[FARVEC_MARKS] = {index_mark(&store->key.identity),
                                      pages_mark(&store->key.identity)};
  farvec_rows* rows = NULL;
  farvec_status status;
  FARVEC_CALL(patience, status,
              library()->get(node->handle, marks, FARVEC_MARKS, &wait, &rows, error));
  if (status != FARVEC_OK) return status;
  for (size_t i = 0; i < FARVEC_MARKS; i++) found[i] = library()->rows_found(rows, i) != 0;
  library()->rows_free(rows);
  return status;
}

// pg_upgrade leaves the pages as they are, and gives the cluster another identifier.
static void take_over(Store* store, Connection* node, Patience* patience) {
  farvec_rows* rows = list_marks(store, node, patience);
  const uint64 old = library()->rows_count(rows) > 0 ? library()->rows_id(rows, 0) : FARVEC_NO_ID;
  library()->rows_free(rows);
  farvec_error error;
  farvec_status status = FARVEC_OK;
  if (old >= FARVEC_FIRST_MARK && old != pages_mark(&store->key.identity) && old != FARVEC_NO_ID) {
    FARVEC_CALL(patience, status, library()->erase(node->handle, &old, 1, &wait, NULL, &error));
  }
  if (status != FARVEC_OK) raise_node_error(store, &error, patience);
  insert_marks(store, node, patience);
}

// The mark of the pages is enough: their number is random.
bool is_own_now(Store* store, Connection* node, Patience* patience, farvec_error* error) {
  bool found[FARVEC_MARKS];
  store->owned_at = 0;
  store->owners = pg_atomic_read_u64(&shared_state()->owners);
  if (find_marks(store, node, found, patience, error) != FARVEC_OK) return false;
  if (!found[1]) {
    return set_error(error, FARVEC_FAILED_PRECONDITION, "the collection is not this index's");
  }
  if (!found[0] && !RecoveryInProgress()) take_over(store, node, patience);
  store->owned_at = GetCurrentTimestamp();
  return true;
}

bool is_own(Store* store, Connection* node, Patience* patience, farvec_error* error) {
  const bool is_known =
      store->owned_at != 0 && store->owners == pg_atomic_read_u64(&shared_state()->owners) &&
      !TimestampDifferenceExceeds(store->owned_at, GetCurrentTimestamp(), FARVEC_OWNED_FOR_MS);
  if (is_known) return true;
  return is_own_now(store, node, patience, error);
}

// Answers whether a mark is of an index of this database that was dropped, or whose CREATE INDEX
// came to nothing. One that is being made by another backend is not seen either. That one finds
// out, by the look after each insert, and ends.
static bool is_of_gone_index(uint64 mark, const StoreIdentity* identity) {
  StoreIdentity other = *identity;
  other.index = (Oid)mark;
  return mark == index_mark(&other) &&
         !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(other.index));
}

Ownership ownership_of(Store* store, Connection* node, Patience* patience) {
  farvec_rows* rows = list_marks(store, node, patience);
  const size_t count = library()->rows_count(rows);
  const uint64 all = library()->rows_matches(rows);
  const uint64 first = count > 0 ? library()->rows_id(rows, 0) : 0;
  const uint64 second = count > 1 ? library()->rows_id(rows, 1) : 0;
  library()->rows_free(rows);
  if (all == 0) return kEmpty;
  if (count != FARVEC_MARKS) return kOfOther;
  if (first != index_mark(&store->key.identity)) {
    return is_of_gone_index(first, &store->key.identity) ? kOfGone : kOfOther;
  }
  return second == pages_mark(&store->key.identity) ? kOwn : kOfOldPages;
}

static void erase_all(Store* store, Connection* node, Patience* patience) {
  farvec_error error;
  farvec_status status;
  FARVEC_CALL(patience, status,
              library()->erase_matching(node->handle, "true", &wait, NULL, &error));
  if (status != FARVEC_OK) raise_node_error(store, &error, patience);
}

static void refuse_other(const Store* store, bool is_build) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_IN_USE),
           errmsg("the collection of the compute node %s has rows that are not this index's",
                  store->key.place),
           is_build ? errhint("Each index needs an empty collection of its own.")
                    : errhint("Serve the index's own collection there, or an empty one, which is "
                              "then filled from the table.")));
}

void begin_node(Store* store, bool is_build, Patience* patience) {
  farvec_error error;
  Connection* node = reach_node(store, patience, &error);
  if (node == NULL) raise_node_error(store, &error, patience);
  const Ownership ownership = ownership_of(store, node, patience);
  if (ownership == kOfOther) refuse_other(store, is_build);
  check_node_columns(store, node, patience);
  pg_atomic_fetch_add_u64(&shared_state()->owners, 1);
  if (ownership != kEmpty) erase_all(store, node, patience);
  insert_marks(store, node, patience);
}
