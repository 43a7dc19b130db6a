// What searches find, in collections and indexes of every type, beside a plain loop.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kRows = 400, kQueries = 7, kFirstId = 1000 };

static void insert_all(farvec_connection* connection, const sample* rows) {
  uint64_t ids[kRows];
  farvec_receipt receipt = {0};
  farvec_error error;
  size_t i;
  for (i = 0; i < kRows; ++i) ids[i] = kFirstId + i;
  receipt.size = sizeof receipt;
  CHECK_OK(farvec_insert(connection, &rows->rows, ids, NULL, NULL, &receipt, &error));
  CHECK(receipt.done == kRows);
  CHECK(receipt.replaced == 0);
  CHECK(receipt.version > 0);
}

static void search_and_check(farvec_connection* connection, const sample* rows,
                             const sample* queries, const farvec_search_options* options,
                             uint64_t first_id) {
  farvec_results* results = NULL;
  farvec_error error;
  const size_t k = options == NULL || options->k == 0 ? 10 : options->k;
  CHECK_OK(farvec_search(connection, &queries->rows, options, NULL, &results, &error));
  check_nearest(results, rows, NULL, &queries->rows, k, first_id);
  CHECK(farvec_results_coverage(results) == 1.0);
  CHECK(farvec_results_attributes(results, 0, 0) == NULL);
  farvec_results_free(results);
}

// All rows that are no farther than one between the fifth and the sixth nearest, and no others.
static void search_within(farvec_connection* connection, const sample* rows,
                          const sample* queries) {
  const farvec_vectors query = one_row(queries, 0);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  farvec_error error;
  double nearest[kRows];
  size_t inside = 0;
  REQUIRE(nearest_distances(rows, NULL, query.data, kRows, nearest) == kRows);
  options.size = sizeof options;
  options.flags = FARVEC_WITHIN | FARVEC_EXACT | FARVEC_PARTIAL;
  options.within = (float)((nearest[4] + nearest[5]) / 2);
  while (nearest[inside] <= (double)options.within) ++inside;
  CHECK_OK(farvec_search(connection, &query, &options, NULL, &results, &error));
  CHECK(farvec_results_count(results, 0) == inside);
  farvec_results_free(results);
  options.within = -1;
  CHECK_OK(farvec_search(connection, &query, &options, NULL, &results, &error));
  CHECK(farvec_results_count(results, 0) == 0);
  farvec_results_free(results);
}

static void search_in_all_ways(farvec_connection* connection, const sample* rows,
                               const sample* queries, uint64_t first_id) {
  farvec_search_options options = {0};
  options.size = sizeof options;
  options.flags = FARVEC_EXACT;
  search_and_check(connection, rows, queries, &options, first_id);
  // A list of all rows leaves none out.
  options.flags = 0;
  options.list = kRows;
  search_and_check(connection, rows, queries, &options, first_id);
  options.k = 1;
  search_and_check(connection, rows, queries, &options, first_id);
  search_within(connection, rows, queries);
}

static void check_described(farvec_connection* connection, farvec_type type, uint32_t dimension,
                            int own_ids) {
  farvec_description description = {0};
  farvec_error error;
  char* json = NULL;
  description.size = sizeof description;
  CHECK_OK(farvec_describe(connection, NULL, &description, &error));
  CHECK(description.size == sizeof description);
  CHECK(description.type == (int32_t)type);
  CHECK(description.dimension == dimension);
  CHECK(description.metric == (type == FARVEC_B1 ? FARVEC_HAMMING : FARVEC_L2));
  CHECK(description.count == kRows);
  CHECK(description.own_ids == own_ids);
  CHECK(description.max_k > 0 && description.max_list > 0);
  CHECK_OK(farvec_state(connection, NULL, &json, &error));
  REQUIRE(json != NULL);
  CHECK(strstr(json, own_ids ? "\"vectors\":400" : "\"count\":400") != NULL);
  CHECK(strstr(json, own_ids ? "\"collection\":\"grpc://" : "\"index\":\"grpc://") != NULL);
  farvec_text_free(json);
}

static void check_stored(farvec_connection* connection, const sample* rows) {
  const uint64_t ids[] = {kFirstId + 5, 3, kFirstId};
  farvec_rows* read = NULL;
  farvec_error error;
  CHECK_OK(farvec_get(connection, ids, 3, NULL, &read, &error));
  REQUIRE(read != NULL);
  CHECK(farvec_rows_count(read) == 3);
  CHECK(farvec_rows_found(read, 0) == 1);
  CHECK(farvec_rows_found(read, 1) == 0);
  CHECK(farvec_rows_vector(read, 1) == NULL);
  CHECK(farvec_rows_id(read, 1) == 3);
  CHECK(farvec_rows_id(read, 3) == FARVEC_NO_ID);
  CHECK(memcmp(farvec_rows_vector(read, 0), row_of(rows, 5), rows->row_bytes) == 0);
  CHECK(memcmp(farvec_rows_vector(read, 2), row_of(rows, 0), rows->row_bytes) == 0);
  farvec_rows_free(read);
}

static void try_type(farvec_type type, uint32_t dimension) {
  char name[32];
  sample rows = make_sample(type, dimension, kRows, 1);
  sample queries = make_sample(type, dimension, kQueries, 2);
  node served;
  farvec_connection* connection;
  snprintf(name, sizeof name, "type%d", (int)type);
  served = start_collection(name, type, dimension, NULL);
  connection = connect_to(&served);
  insert_all(connection, &rows);
  check_described(connection, type, dimension, 1);
  search_in_all_ways(connection, &rows, &queries, kFirstId);
  check_stored(connection, &rows);
  farvec_close(connection);
  stop_node(&served, SIGTERM);
  free_sample(&rows);
  free_sample(&queries);
}

void test_types(void) {
  try_type(FARVEC_F32, 13);
  try_type(FARVEC_F16, 7);
  try_type(FARVEC_U8, 16);
  try_type(FARVEC_I8, 5);
  try_type(FARVEC_B1, 77);
}

void test_index(void) {
  char data[kPathRoom];
  char index[kPathRoom];
  const char* build[] = {"build", "graph",  "--data", data,    "--metric", "l2",      "--degree",
                         "12",    "--list", "24",     "--out", index,      "--quiet", NULL};
  const char* serve[] = {"--index", index, "--tier", "dram", NULL};
  sample rows = make_sample(FARVEC_F32, 9, kRows, 1);
  sample queries = make_sample(FARVEC_F32, 9, kQueries, 2);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  farvec_counts counts = {0};
  farvec_receipt receipt = {0};
  farvec_error error;
  const uint64_t id = 1;
  node served;
  farvec_connection* connection;
  path_in_folder(data, "base");
  path_in_folder(index, "index");
  write_sample(&rows, data, sizeof data);
  run_tool(build);
  served = start_node("index-node", serve);
  connection = connect_to(&served);
  check_described(connection, FARVEC_F32, 9, 0);
  search_in_all_ways(connection, &rows, &queries, 0);

  options.size = sizeof options;
  counts.size = sizeof counts;
  CHECK_OK(farvec_search(connection, &queries.rows, &options, NULL, &results, &error));
  CHECK_OK(farvec_results_counts(results, &counts, &error));
  CHECK(counts.reads > 0 && counts.hops > 0 && counts.bytes > 0 && counts.distances > 0);
  CHECK(counts.lost == 0);
  farvec_results_free(results);

  // k above the number of vectors: an index refuses it, as it never has that many.
  options.k = kRows + 1;
  CHECK_FAILS(farvec_search(connection, &queries.rows, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "k: 401 is out of range");
  CHECK(results == NULL);
  receipt.size = sizeof receipt;
  CHECK_FAILS(farvec_erase(connection, &id, 1, NULL, &receipt, &error), FARVEC_FAILED_PRECONDITION,
              "takes no changes");
  farvec_close(connection);
  free_sample(&rows);
  free_sample(&queries);
}

void test_empty(void) {
  node served = start_collection("empty", FARVEC_F32, 5, NULL);
  farvec_connection* const connection = connect_to(&served);
  sample rows = make_sample(FARVEC_F32, 5, 3, 1);
  farvec_vectors none = rows.rows;
  farvec_vectors first = one_row(&rows, 0);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  farvec_rows* read = NULL;
  farvec_receipt receipt = {0};
  farvec_error error;
  const uint64_t id = UINT64_MAX - 1;  // the greatest that there is
  receipt.size = sizeof receipt;
  options.size = sizeof options;
  none.count = 0;
  none.data = NULL;

  // A collection without rows, and calls without any.
  CHECK_OK(farvec_search(connection, &rows.rows, NULL, NULL, &results, &error));
  CHECK(farvec_results_queries(results) == 3);
  CHECK(farvec_results_count(results, 0) == 0 && farvec_results_count(results, 2) == 0);
  farvec_results_free(results);
  CHECK_OK(farvec_search(connection, &none, NULL, NULL, &results, &error));
  CHECK(farvec_results_queries(results) == 0);
  CHECK(farvec_results_ids(results, 0) == NULL);
  farvec_results_free(results);
  CHECK_OK(farvec_insert(connection, &none, NULL, NULL, NULL, &receipt, &error));
  CHECK(receipt.done == 0);
  CHECK_OK(farvec_erase(connection, NULL, 0, NULL, &receipt, &error));
  CHECK_OK(farvec_get(connection, NULL, 0, NULL, &read, &error));
  CHECK(farvec_rows_count(read) == 0);
  farvec_rows_free(read);
  CHECK_OK(farvec_list(connection, NULL, 0, 10, NULL, &read, &error));
  CHECK(farvec_rows_count(read) == 0 && farvec_rows_more(read) == 0);
  farvec_rows_free(read);
  CHECK_OK(farvec_flush(connection, NULL, &error));

  // One row, and more results than there are rows.
  CHECK_OK(farvec_insert(connection, &first, &id, NULL, NULL, &receipt, &error));
  CHECK(receipt.done == 1);
  options.k = 500;
  options.list = 500;
  CHECK_OK(farvec_search(connection, &first, &options, NULL, &results, &error));
  CHECK(farvec_results_count(results, 0) == 1);
  CHECK(farvec_results_ids(results, 0)[0] == id);
  CHECK(farvec_results_distances(results, 0)[0] == 0.0F);
  CHECK(farvec_results_count(results, 1) == 0);
  farvec_results_free(results);
  farvec_close(connection);
  free_sample(&rows);
}
