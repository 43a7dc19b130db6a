// Searches of an index on a compute node: a cursor there.
#include <postgres.h>

#include <utils/memutils.h>

#include "postgres/index/index.h"
#include "postgres/index/node_store.h"

struct StoreSearch {
  Store* store;
  void* query;
  StoreSearchOptions options;
  farvec_cursor* cursor;  // NULL: nothing was asked yet
  farvec_results* results;
  farvec_counts counts;
  bool is_over;
};

static void free_results(StoreSearch* search) {
  if (search->results != NULL) library()->results_free(search->results);
  search->results = NULL;
}

// The library's memory goes with the context, after errors too.
static void free_search(void* argument) {
  StoreSearch* search = argument;
  free_results(search);
  if (search->cursor != NULL) library()->cursor_free(search->cursor);
  search->cursor = NULL;
}

StoreSearch* search_node(Store* store, const void* query, const StoreSearchOptions* options) {
  StoreSearch* search = palloc0(sizeof *search);
  const Size bytes = vector_size(&store->shape);
  search->store = store;
  search->query = palloc(bytes);
  memcpy(search->query, query, bytes);
  search->options = *options;
  search->counts.size = sizeof search->counts;
  MemoryContextCallback* freeing = palloc0(sizeof *freeing);
  freeing->func = free_search;
  freeing->arg = search;
  MemoryContextRegisterResetCallback(CurrentMemoryContext, freeing);
  return search;
}

static void open_cursor(StoreSearch* search, Connection* node, const Patience* patience) {
  const farvec_vectors query = {search->query, 1, search->store->shape.dimension,
                                search->store->shape.type};
  const farvec_search_options options = {.size = sizeof options,
                                         .list = Min(search->options.list, node->served.max_list),
                                         .filter = search->options.filter};
  farvec_error error;
  if (library()->cursor_open(node->handle, &query, &options, &search->cursor, &error) !=
      FARVEC_OK) {
    raise_node_error(search->store, &error, patience);
  }
}

static void add_counts(StoreSearch* search) {
  farvec_counts one = {.size = sizeof one};
  farvec_error error;
  if (library()->results_counts(search->results, &one, &error) != FARVEC_OK) return;
  search->counts.hops += one.hops;
  search->counts.reads += one.reads;
  search->counts.bytes += one.bytes;
  search->counts.cache_hits += one.cache_hits;
  search->counts.estimates += one.estimates;
  search->counts.distances += one.distances;
  search->counts.lost += one.lost;
  search->counts.clusters += one.clusters;
  search->counts.walks += one.walks;
  search->counts.scans += one.scans;
}

// Marks are rows of the collection, and none of the index.
static size_t copy_found(StoreSearch* search, StoreFound* found, size_t most) {
  const size_t count = library()->results_count(search->results, 0);
  const uint64_t* ids = library()->results_ids(search->results, 0);
  const float* distances = library()->results_distances(search->results, 0);
  if (count > most) elog(ERROR, "the compute node answers with more rows than were asked for");
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (ids[i] < FARVEC_FIRST_MARK) found[kept++] = (StoreFound){ids[i], distances[i]};
  }
  search->is_over = count == 0;
  return kept;
}

static bool ask(StoreSearch* search, size_t most, Patience* patience) {
  farvec_error error;
  farvec_status status;
  free_results(search);
  Connection* node = reach_node(search->store, patience, &error);
  if (node == NULL) raise_node_error(search->store, &error, patience);
  if (search->cursor == NULL) open_cursor(search, node, patience);
  const size_t count = Min(most, node->served.max_k);
  FARVEC_CALL(patience, status,
              library()->cursor_next(search->cursor, count, &wait, &search->results, &error));
  if (status == FARVEC_RESOURCE_EXHAUSTED) return false;
  if (status != FARVEC_OK) raise_node_error(search->store, &error, patience);
  add_counts(search);
  return true;
}

size_t next_of_node(StoreSearch* search, StoreFound* found, size_t most, Patience* patience) {
  size_t kept = 0;
  while (kept == 0 && !search->is_over) {
    if (!ask(search, most, patience)) {
      search->is_over = true;
      break;
    }
    kept = copy_found(search, found, most);
  }
  free_results(search);
  return kept;
}

void counts_of_node(const StoreSearch* search, farvec_counts* counts) {
  *counts = search->counts;
}
