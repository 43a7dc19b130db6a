// Searches of an index on a compute node: one search, and a cursor where its rows are not enough.
#include <postgres.h>

#include <utils/memutils.h>

#include "postgres/index/index.h"
#include "postgres/index/node_store.h"

struct StoreSearch {
  Store* store;
  void* query;
  StoreSearchOptions options;
  bool has_begun;
  uint64* first;  // what the first search gave; the cursor gives it again
  size_t first_count;
  farvec_cursor* cursor;  // NULL: the first search was enough until now
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
  search->counts.matches = kNotKnown;
  MemoryContextCallback* freeing = palloc0(sizeof *freeing);
  freeing->func = free_search;
  freeing->arg = search;
  MemoryContextRegisterResetCallback(CurrentMemoryContext, freeing);
  return search;
}

static farvec_vectors query_of(const StoreSearch* search) {
  return (farvec_vectors){search->query, 1, search->store->shape.dimension,
                          search->store->shape.type};
}

static farvec_search_options options_of(const StoreSearch* search, const Connection* node,
                                        size_t k) {
  return (farvec_search_options){.size = sizeof(farvec_search_options),
                                 .k = (uint32_t)k,
                                 .list = Min(Max(search->options.list, k), node->served.max_list),
                                 .filter = search->options.filter};
}

static void open_cursor(StoreSearch* search, Connection* node, const Patience* patience) {
  const farvec_vectors query = query_of(search);
  const farvec_search_options options = options_of(search, node, 0);
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

static bool was_first(const StoreSearch* search, uint64 vid) {
  for (size_t i = 0; i < search->first_count; i++) {
    if (search->first[i] == vid) return true;
  }
  return false;
}

// Marks are rows of the collection, and none of the index.
static size_t copy_found(StoreSearch* search, StoreFound* found, size_t most) {
  const size_t count = library()->results_count(search->results, 0);
  const uint64_t* ids = library()->results_ids(search->results, 0);
  const float* distances = library()->results_distances(search->results, 0);
  if (count > most) elog(ERROR, "the compute node answers with more rows than were asked for");
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (ids[i] >= FARVEC_FIRST_MARK || was_first(search, ids[i])) continue;
    found[kept++] = (StoreFound){ids[i], distances[i]};
  }
  search->is_over = search->is_over || count == 0;
  return kept;
}

// One search costs less than a cursor, which asks the node for its limits and looks for more rows.
static farvec_status ask_first(StoreSearch* search, Connection* node, size_t count,
                               Patience* patience, farvec_error* error) {
  const farvec_vectors query = query_of(search);
  const farvec_search_options options = options_of(search, node, count);
  farvec_status status;
  FARVEC_CALL(patience, status,
              library()->search(node->handle, &query, &options, &wait, &search->results, error));
  search->has_begun = true;
  return status;
}

static farvec_status ask_more(StoreSearch* search, Connection* node, size_t count,
                              Patience* patience, farvec_error* error) {
  farvec_status status;
  if (search->cursor == NULL) open_cursor(search, node, patience);
  FARVEC_CALL(patience, status,
              library()->cursor_next(search->cursor, count, &wait, &search->results, error));
  return status;
}

// Answers false where the node allows no longer search.
static bool ask(StoreSearch* search, size_t most, Patience* patience) {
  farvec_error error;
  free_results(search);
  Connection* node = reach_node(search->store, patience, &error);
  if (node == NULL) raise_node_error(search->store, &error, patience);
  const size_t count = Min(most, Min(node->served.max_k, node->served.max_list));
  const bool is_first = !search->has_begun;
  const farvec_status status = is_first ? ask_first(search, node, count, patience, &error)
                                        : ask_more(search, node, count, patience, &error);
  if (status == FARVEC_RESOURCE_EXHAUSTED && !is_first) return false;
  if (status != FARVEC_OK) raise_node_error(search->store, &error, patience);
  add_counts(search);
  // A search with a filter finds as many rows as meet it.
  search->is_over = is_first && search->options.filter != NULL &&
                    library()->results_count(search->results, 0) < count;
  return true;
}

// Counts the rows that meet the filter, in a collection that is still this index's. It is for the
// end of a search, which then knows whether it has found all. Marks are counted too, and come as
// rows.
static void count_matches(StoreSearch* search, Patience* patience) {
  farvec_error error;
  farvec_rows* rows = NULL;
  farvec_status status;
  Connection* node = reach_node(search->store, patience, &error);
  if (node == NULL) raise_node_error(search->store, &error, patience);
  FARVEC_CALL(patience, status,
              library()->list(node->handle, search->options.filter, FARVEC_FIRST_MARK,
                              2 * FARVEC_MARKS, &wait, &rows, &error));
  if (status != FARVEC_OK) raise_node_error(search->store, &error, patience);
  const uint64 matches = library()->rows_matches(rows) - library()->rows_count(rows);
  library()->rows_free(rows);
  if (is_own_now(search->store, node, patience, &error)) search->counts.matches = matches;
}

static void note_first(StoreSearch* search, const StoreFound* found, size_t count) {
  search->first = palloc_extended(count * sizeof(uint64), MCXT_ALLOC_HUGE);
  for (size_t i = 0; i < count; i++) search->first[i] = found[i].vid;
  search->first_count = count;
}

size_t next_of_node(StoreSearch* search, StoreFound* found, size_t most, Patience* patience) {
  size_t kept = 0;
  while (kept == 0 && !search->is_over) {
    const bool is_first = !search->has_begun;
    if (!ask(search, most, patience)) {
      search->is_over = true;
      break;
    }
    kept = copy_found(search, found, most);
    if (is_first) note_first(search, found, kept);
  }
  free_results(search);
  if (search->is_over && search->options.filter != NULL) count_matches(search, patience);
  return kept;
}

void counts_of_node(const StoreSearch* search, farvec_counts* counts) {
  *counts = search->counts;
}
