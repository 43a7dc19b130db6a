// Cursors: rows in order, each once, to the end and no further.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kRows = 400, kDimension = 8, kNotYet = -1 };

static farvec_error error;

// The batch that has each row; kNotYet: none.
static int batch_of[kRows];

// Takes a batch, and returns how many rows it has.
static size_t take(farvec_cursor* cursor, size_t count, int batch) {
  farvec_results* results = NULL;
  const uint64_t* ids;
  size_t found;
  size_t i;
  CHECK_OK(farvec_cursor_next(cursor, count, NULL, &results, &error));
  REQUIRE(results != NULL && farvec_results_queries(results) == 1);
  found = farvec_results_count(results, 0);
  ids = farvec_results_ids(results, 0);
  CHECK(found <= count);
  for (i = 0; i < found; ++i) {
    REQUIRE(ids[i] < kRows);
    CHECK(batch_of[ids[i]] == kNotYet);
    batch_of[ids[i]] = batch;
    if (i > 0) {
      CHECK(farvec_results_distances(results, 0)[i] >= farvec_results_distances(results, 0)[i - 1]);
    }
  }
  farvec_results_free(results);
  return found;
}

static farvec_cursor* opened(farvec_connection* connection, const farvec_vectors* query,
                             const farvec_search_options* options) {
  farvec_cursor* cursor = NULL;
  size_t i;
  for (i = 0; i < kRows; ++i) batch_of[i] = kNotYet;
  CHECK_OK(farvec_cursor_open(connection, query, options, &cursor, &error));
  REQUIRE(cursor != NULL);
  return cursor;
}

static void insert_rows(farvec_connection* connection, const sample* rows) {
  uint64_t ids[kRows];
  size_t i;
  for (i = 0; i < kRows; ++i) ids[i] = i;
  CHECK_OK(farvec_insert(connection, &rows->rows, ids, NULL, NULL, NULL, &error));
}

static void read_to_the_end(farvec_cursor* cursor, size_t count) {
  size_t all = 0;
  size_t found;
  int batch = 0;
  while ((found = take(cursor, count, batch++)) > 0) all += found;
  CHECK(all == kRows);
  CHECK(take(cursor, count, batch) == 0);
}

// The first rows are the nearest ones.
static void check_first_batch(const sample* rows, const void* query, size_t count) {
  double distances[kRows];
  size_t row;
  REQUIRE(nearest_distances(rows, NULL, query, count, distances) == count);
  for (row = 0; row < kRows; ++row) {
    const double distance = distance_between(&rows->rows, row_of(rows, row), query);
    CHECK((batch_of[row] == 0) == (distance <= distances[count - 1]));
  }
}

void test_cursor(void) {
  node served = start_collection("cursor", FARVEC_F32, kDimension, NULL);
  farvec_connection* const connection = connect_to(&served);
  sample rows = make_sample(FARVEC_F32, kDimension, kRows, 1);
  const farvec_vectors query = one_row(&rows, 7);
  farvec_search_options options = {0};
  farvec_cursor* cursor;
  farvec_results* results = NULL;
  insert_rows(connection, &rows);
  options.size = sizeof options;
  options.flags = FARVEC_EXACT;
  cursor = opened(connection, &query, &options);
  read_to_the_end(cursor, 33);
  check_first_batch(&rows, query.data, 33);
  farvec_cursor_free(cursor);

  cursor = opened(connection, &query, NULL);
  read_to_the_end(cursor, 1);
  CHECK(batch_of[7] == 0);
  farvec_cursor_free(cursor);
  cursor = opened(connection, &query, NULL);
  CHECK(take(cursor, 2 * kRows, 0) == kRows);
  CHECK_FAILS(farvec_cursor_next(cursor, 0, NULL, &results, &error), FARVEC_INVALID_ARGUMENT,
              "count");
  // A cursor outlives its connection, and gives no rows then.
  farvec_close(connection);
  CHECK_FAILS(farvec_cursor_next(cursor, 1, NULL, &results, &error), FARVEC_FAILED_PRECONDITION,
              "closed");
  farvec_cursor_free(cursor);
  free_sample(&rows);
}

void test_cursor_of_clusters(void) {
  char data[kPathRoom];
  char index[kPathRoom];
  const char* build[] = {"build",      "cluster", "--data", data,  "--metric", "l2",
                         "--clusters", "50",      "--out",  index, "--quiet",  NULL};
  const char* serve[] = {"--index", index, "--tier", "dram", NULL};
  sample rows = make_sample(FARVEC_F32, kDimension, kRows, 1);
  const farvec_vectors query = one_row(&rows, 7);
  farvec_search_options options = {0};
  farvec_connection* connection;
  farvec_results* results = NULL;
  farvec_cursor* cursor;
  node served;
  path_in_folder(data, "base");
  path_in_folder(index, "index");
  write_sample(&rows, data, sizeof data);
  run_tool(build);
  served = start_node("clusters", serve);
  connection = connect_to(&served);
  options.size = sizeof options;
  options.probe = 1;
  cursor = opened(connection, &query, &options);
  read_to_the_end(cursor, 30);
  farvec_cursor_free(cursor);
  options.prune_ratio = 0.5F;
  CHECK_FAILS(farvec_search(connection, &query, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "prune_ratio: 0.5");
  options.prune_ratio = 0;
  options.probe = UINT32_MAX;
  CHECK_FAILS(farvec_search(connection, &query, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "probe: 4294967295");
  CHECK(results == NULL);
  farvec_close(connection);
  free_sample(&rows);
}

void test_cursor_without_room(void) {
  char set[kPathRoom];
  const char* serve[] = {"--collection", set, "--max-list", "64", "--max-k", "64", NULL};
  node served = start_collection("full", FARVEC_F32, kDimension, NULL);
  farvec_connection* connection = connect_to(&served);
  sample rows = make_sample(FARVEC_F32, kDimension, kRows, 1);
  const farvec_vectors query = one_row(&rows, 7);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  farvec_cursor* cursor = NULL;
  insert_rows(connection, &rows);
  farvec_close(connection);
  stop_node(&served, SIGTERM);
  path_in_folder(set, "full.set");
  served = start_node("narrow", serve);
  connection = connect_to(&served);
  cursor = opened(connection, &query, NULL);
  CHECK(take(cursor, 60, 0) == 60);
  CHECK(take(cursor, 60, 1) == 4);
  CHECK_FAILS(farvec_cursor_next(cursor, 60, NULL, &results, &error), FARVEC_RESOURCE_EXHAUSTED,
              "--max-list");
  CHECK(results == NULL);
  farvec_cursor_free(cursor);

  options.size = sizeof options;
  options.k = 10;
  CHECK_FAILS(farvec_cursor_open(connection, &query, &options, &cursor, &error),
              FARVEC_INVALID_ARGUMENT, "options.k");
  CHECK_FAILS(farvec_cursor_open(connection, &rows.rows, NULL, &cursor, &error),
              FARVEC_INVALID_ARGUMENT, "there are 400");
  CHECK(cursor == NULL);
  farvec_close(connection);
  free_sample(&rows);
}
