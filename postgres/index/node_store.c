// The store of an index on a compute node, which serves a collection: ids are VIDs.
#include <postgres.h>

#include "postgres/index/node_store.h"

#include <utils/hsearch.h>
#include <utils/memutils.h>

#include "postgres/index/index.h"

#define AWAY_FOR_MS 5000  // plans do without a node that did not answer

static const char* type_name(int32_t type) {
  static const char* const names[] = {"floats", "half floats", "bytes from 0 to 255",
                                      "bytes from -128 to 127", "bits"};
  return type >= 0 && (size_t)type < lengthof(names) ? names[type] : "an unknown type";
}

static const char* metric_name(int32_t metric) {
  static const char* const names[] = {"l2", "ip", "cosine", "hamming", "jaccard"};
  return metric >= 0 && (size_t)metric < lengthof(names) ? names[metric] : "an unknown metric";
}

// Answers whether the node serves a collection of the index's shape.
static bool fits(const farvec_description* served, const StoreShape* shape, farvec_error* error) {
  error->status = FARVEC_FAILED_PRECONDITION;
  if (!served->own_ids) {
    strlcpy(error->message, "it serves no collection, whose rows can change",
            sizeof error->message);
    return false;
  }
  if (served->type == shape->type && served->stored_type == shape->type &&
      served->metric == shape->metric && served->dimension == shape->dimension) {
    return true;
  }
  snprintf(
      error->message, sizeof error->message,
      "it serves %u dimensions of %s (stored as %s) under %s, and the index has %u of %s under %s",
      served->dimension, type_name(served->type), type_name(served->stored_type),
      metric_name(served->metric), shape->dimension, type_name(shape->type),
      metric_name(shape->metric));
  return false;
}

Connection* reach_node(Store* store, Patience* patience, farvec_error* error) {
  Connection* node = try_connection_to(store->key.place, store->owner, patience, error);
  note_answer(store, node == NULL ? error->status : FARVEC_OK);
  if (node == NULL || !fits(&node->served, &store->shape, error)) return NULL;
  return node;
}

static HTAB* stores = NULL;

// Bytes between members are zero, since keys are compared as bytes.
static StoreKey key_of(const StoreIdentity* identity, const char* place) {
  StoreKey key;
  memset(&key, 0, sizeof key);
  key.identity.number = identity->number;
  key.identity.tablespace = identity->tablespace;
  key.identity.database = identity->database;
  key.identity.file = identity->file;
  key.identity.index = identity->index;
  strlcpy(key.place, place, sizeof key.place);
  return key;
}

static Store* open_node(const StoreIdentity* identity, const StoreShape* shape,
                        const StoreColumns* columns, const char* place, Oid owner,
                        Patience* patience) {
  (void)patience;
  if (stores == NULL) {
    HASHCTL control = {
        .keysize = sizeof(StoreKey), .entrysize = sizeof(Store), .hcxt = TopMemoryContext};
    stores = hash_create("farvec stores", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  const StoreKey key = key_of(identity, place);
  bool found;
  Store* store = hash_search(stores, &key, HASH_ENTER, &found);
  if (!found) memset((char*)store + sizeof key, 0, sizeof *store - sizeof key);
  store->shape = *shape;
  store->columns = *columns;
  store->owner = owner;
  return store;
}

// Where nothing answers that is an error, and where the collection is another's it is told.
static StoreState state_of_node(Store* store, Patience* patience) {
  farvec_error error = {0};
  Connection* node = reach_node(store, patience, &error);
  if (node == NULL) raise_node_error(store, &error, patience);
  const uint64 rows = node->served.count;
  if (is_own(store, node, patience, &error)) {
    return (StoreState){.covered = kCoversAll,
                        .ready = true,
                        .rows = rows > FARVEC_MARKS ? rows - FARVEC_MARKS : 0};
  }
  if (error.status != FARVEC_FAILED_PRECONDITION) raise_node_error(store, &error, patience);
  return (StoreState){.foreign = true, .rows = rows};
}

// The planner cannot wait for a connection, so it is told what this backend saw a moment ago.
static bool is_node_there(const StoreIdentity* identity, const char* place) {
  if (place == NULL || stores == NULL) return place != NULL;
  const StoreKey key = key_of(identity, place);
  const Store* store = hash_search(stores, &key, HASH_FIND, NULL);
  return store == NULL || store->failed_at == 0 ||
         TimestampDifferenceExceeds(store->failed_at, GetCurrentTimestamp(), AWAY_FOR_MS);
}

// The collection is looked at after the rows are in: so they are in the one that is the index's.
static bool insert_into_node(Store* store, const uint64* vids, const void* vectors,
                             StoreTuples tuples, size_t count, Patience* patience,
                             farvec_error* error) {
  Connection* node = reach_node(store, patience, error);
  if (node == NULL || !is_own(store, node, patience, error)) return false;
  const farvec_vectors rows = {vectors, count, store->shape.dimension, store->shape.type};
  const MemoryContext values =
      AllocSetContextCreate(CurrentMemoryContext, "farvec values", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(values);
  const char** objects = objects_of(&store->columns, tuples, count);
  MemoryContextSwitchTo(before);
  farvec_status status;
  FARVEC_CALL(patience, status,
              library()->insert(node->handle, &rows, vids, objects, &wait, NULL, error));
  MemoryContextDelete(values);
  note_answer(store, status);
  return status == FARVEC_OK && is_own_now(store, node, patience, error);
}

static bool erase_from_node(Store* store, const uint64* vids, size_t count, Patience* patience,
                            farvec_error* error) {
  Connection* node = reach_node(store, patience, error);
  if (node == NULL || !is_own_now(store, node, patience, error)) return false;
  farvec_status status;
  FARVEC_CALL(patience, status, library()->erase(node->handle, vids, count, &wait, NULL, error));
  return status == FARVEC_OK && is_own_now(store, node, patience, error);
}

farvec_rows* rows_of_node(Store* store, const uint64* vids, size_t count, Patience* patience) {
  farvec_error error;
  farvec_rows* rows = NULL;
  farvec_status status;
  Connection* node = reach_node(store, patience, &error);
  if (node == NULL) raise_node_error(store, &error, patience);
  FARVEC_CALL(patience, status, library()->get(node->handle, vids, count, &wait, &rows, &error));
  if (status != FARVEC_OK) raise_node_error(store, &error, patience);
  if (library()->rows_count(rows) != count) {
    library()->rows_free(rows);
    elog(ERROR, "the compute node %s answers with other rows", store->key.place);
  }
  return rows;
}

static void get_from_node(Store* store, const uint64* vids, size_t count, bool* found,
                          void* vectors, Patience* patience) {
  farvec_rows* rows = rows_of_node(store, vids, count, patience);
  const Size bytes = vector_size(&store->shape);
  for (size_t i = 0; i < count; i++) {
    const void* vector = library()->rows_vector(rows, i);
    found[i] = library()->rows_found(rows, i) && vector != NULL;
    if (found[i]) memcpy((char*)vectors + i * bytes, vector, bytes);
  }
  library()->rows_free(rows);
}

const StoreKind kNodeStore = {.name = "node",
                              .is_shared = true,
                              .open = open_node,
                              .begin = begin_node,
                              .state = state_of_node,
                              .is_there = is_node_there,
                              .insert = insert_into_node,
                              .erase = erase_from_node,
                              .get = get_from_node,
                              .compare = compare_on_node,
                              .search = search_node,
                              .next = next_of_node,
                              .counts = counts_of_node};
