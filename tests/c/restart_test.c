// Nodes that are started again at their address with something else: what a connection remembers
// of the former one is not used for the other.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kDimension = 7, kFew = 50, kMany = 300 };

static farvec_error error;

// Connects with one further attempt for each call.
static farvec_connection* connect_patiently(const node* started) {
  farvec_connect_options options = {0};
  farvec_connection* connection = NULL;
  farvec_close(connect_to(started));
  options.size = sizeof options;
  options.address = started->address;
  options.retries = 1;
  CHECK_OK(farvec_connect(&options, NULL, &connection, &error));
  REQUIRE(connection != NULL);
  return connection;
}

static node serve_collection_at(const char* address, const char* name) {
  char set[kPathRoom];
  char set_name[64];
  const char* serve[] = {"--collection", set, NULL};
  snprintf(set_name, sizeof set_name, "%s.set", name);
  path_in_folder(set, set_name);
  return start_node_at(address, name, serve);
}

// Checks what the nearest row of `rows` has in its column.
static void check_price(farvec_connection* connection, const sample* rows, const char* expected) {
  static const char* const columns[] = {"price"};
  const farvec_vectors query = one_row(rows, 0);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  const char* text;
  options.size = sizeof options;
  options.columns = columns;
  options.column_count = 1;
  CHECK_OK(farvec_search(connection, &query, &options, NULL, &results, &error));
  REQUIRE(results != NULL);
  REQUIRE(farvec_results_count(results, 0) > 0);
  text = farvec_results_attributes(results, 0, 0);
  CHECK(text != NULL && strcmp(text, expected) == 0);
  farvec_results_free(results);
}

void test_other_schema(void) {
  static const char* const whole[] = {"--schema", "price: i64", NULL};
  static const char* const real[] = {"--schema", "price: f64", NULL};
  static const char* const sevens[] = {"{\"price\":7}", "{\"price\":7}"};
  static const char* const halves[] = {"{\"price\":2.5}", "{\"price\":2.5}"};
  static const char* const more[] = {"{\"price\":1.5}", "{\"price\":1.5}"};
  const uint64_t ids[] = {1, 2};
  sample rows = make_sample(FARVEC_F32, kDimension, 2, 1);
  char address[kPathRoom];
  farvec_rows* listed = NULL;
  farvec_connection* second;
  node served = start_collection("whole", FARVEC_F32, kDimension, whole);
  farvec_connection* const connection = connect_patiently(&served);
  strcpy(address, served.address);
  create_collection("real", FARVEC_F32, kDimension, real);
  CHECK_OK(farvec_insert(connection, &rows.rows, ids, sevens, NULL, NULL, &error));
  check_price(connection, &rows, "{\"price\":7}");

  stop_node(&served, SIGKILL);
  served = serve_collection_at(address, "real");
  second = connect_to(&served);
  CHECK_OK(farvec_insert(second, &rows.rows, ids, halves, NULL, NULL, &error));
  // The first call after the restart has the other's columns.
  check_price(connection, &rows, "{\"price\":2.5}");
  // A change has them too.
  CHECK_OK(farvec_insert(connection, &rows.rows, ids, more, NULL, NULL, &error));
  check_price(second, &rows, "{\"price\":1.5}");
  CHECK_OK(farvec_list(connection, NULL, 0, 5, NULL, &listed, &error));
  CHECK(farvec_rows_count(listed) == 2);
  CHECK(strcmp(farvec_rows_attributes(listed, 1), "{\"price\":1.5}") == 0);
  farvec_rows_free(listed);
  farvec_close(second);
  farvec_close(connection);
  free_sample(&rows);
}

// Builds a graph of these rows and serves it.
static node serve_index_at(const char* address, const char* name, const sample* rows) {
  char data[kPathRoom];
  char index[kPathRoom];
  char data_name[64];
  const char* build[] = {"build", "graph",  "--data", data,    "--metric", "l2",      "--degree",
                         "12",    "--list", "24",     "--out", index,      "--quiet", NULL};
  const char* serve[] = {"--index", index, "--tier", "dram", NULL};
  snprintf(data_name, sizeof data_name, "%s-data", name);
  path_in_folder(data, data_name);
  path_in_folder(index, name);
  write_sample(rows, data, sizeof data);
  run_tool(build);
  return start_node_at(address, name, serve);
}

static size_t rows_of_cursor(farvec_connection* connection, const farvec_vectors* query) {
  farvec_cursor* cursor = NULL;
  farvec_results* results = NULL;
  size_t count;
  CHECK_OK(farvec_cursor_open(connection, query, NULL, &cursor, &error));
  // The count is bounded, and does not wrap.
  CHECK_OK(farvec_cursor_next(cursor, 1, NULL, &results, &error));
  count = farvec_results_count(results, 0);
  farvec_results_free(results);
  CHECK_OK(farvec_cursor_next(cursor, SIZE_MAX, NULL, &results, &error));
  count += farvec_results_count(results, 0);
  farvec_results_free(results);
  farvec_cursor_free(cursor);
  return count;
}

void test_larger_index(void) {
  sample few = make_sample(FARVEC_F32, kDimension, kFew, 1);
  sample many = make_sample(FARVEC_F32, kDimension, kMany, 2);
  const farvec_vectors query = one_row(&many, 3);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  char path[kPathRoom];
  char address[kPathRoom + 5];
  node served;
  farvec_connection* connection;
  path_in_folder(path, "socket");
  snprintf(address, sizeof address, "unix:%s", path);
  served = serve_index_at(address, "few", &few);
  connection = connect_patiently(&served);
  options.size = sizeof options;
  options.k = 2 * kFew;
  options.list = 4 * kFew;
  CHECK_FAILS(farvec_search(connection, &query, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "k: 100 is out of range");
  CHECK(rows_of_cursor(connection, &query) == kFew);

  stop_node(&served, SIGKILL);
  served = serve_index_at(address, "many", &many);
  farvec_close(connect_to(&served));
  CHECK_OK(farvec_search(connection, &query, &options, NULL, &results, &error));
  check_nearest(results, &many, NULL, &query, 2 * kFew, 0);
  farvec_results_free(results);
  // The search with a bound has as many rows as there are now.
  options.k = 0;
  options.list = 0;
  options.flags = FARVEC_WITHIN | FARVEC_EXACT;
  options.within = 1e30F;
  CHECK_OK(farvec_search(connection, &query, &options, NULL, &results, &error));
  CHECK(farvec_results_count(results, 0) == kMany);
  CHECK(rows_of_cursor(connection, &query) == kMany);
  farvec_results_free(results);
  farvec_close(connection);
  free_sample(&few);
  free_sample(&many);
}
