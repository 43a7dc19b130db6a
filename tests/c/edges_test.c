// What callers get wrong: pointers, sizes, shapes, numbers.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kDimension = 6 };

static farvec_error error;

static void try_connect(void) {
  farvec_connect_options options = {0};
  farvec_connection* connection = (farvec_connection*)&options;
  options.size = sizeof options;
  CHECK_FAILS(farvec_connect(NULL, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT, "options");
  CHECK(connection == NULL);
  CHECK_FAILS(farvec_connect(&options, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT, "connection");
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT,
              "options.address");
  options.address = "no address";
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT,
              "no address");
  options.address = "unix:/nowhere/at/all";
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_UNAVAILABLE,
              "nothing listens");
  options.tls_key = "key.pem";
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT,
              "missing");
  options.size = 0;
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT,
              "options.size");
  CHECK(farvec_connect(&options, NULL, &connection, NULL) == FARVEC_INVALID_ARGUMENT);
  CHECK(connection == NULL);
}

static void try_nothing(void) {
  farvec_results* results = NULL;
  farvec_rows* rows = NULL;
  farvec_cursor* cursor = NULL;
  farvec_description description = {0};
  farvec_counts counts = {0};
  char* json = NULL;
  const uint64_t id = 1;
  CHECK_FAILS(farvec_search(NULL, NULL, NULL, NULL, &results, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_describe(NULL, NULL, &description, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_state(NULL, NULL, &json, &error), FARVEC_INVALID_ARGUMENT, "connection");
  CHECK_FAILS(farvec_cursor_open(NULL, NULL, NULL, &cursor, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_cursor_next(NULL, 1, NULL, &results, &error), FARVEC_INVALID_ARGUMENT,
              "cursor");
  CHECK_FAILS(farvec_insert(NULL, NULL, NULL, NULL, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_erase(NULL, &id, 1, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_erase_matching(NULL, "true", NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_update(NULL, &id, 1, NULL, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_update_matching(NULL, "true", "{}", NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "connection");
  CHECK_FAILS(farvec_get(NULL, &id, 1, NULL, &rows, &error), FARVEC_INVALID_ARGUMENT, "connection");
  CHECK_FAILS(farvec_list(NULL, NULL, 0, 1, NULL, &rows, &error), FARVEC_INVALID_ARGUMENT,
              "connection");
  CHECK_FAILS(farvec_flush(NULL, NULL, &error), FARVEC_INVALID_ARGUMENT, "connection");
  CHECK_FAILS(farvec_compact(NULL, NULL, &error), FARVEC_INVALID_ARGUMENT, "connection");
  CHECK_FAILS(farvec_results_counts(NULL, &counts, &error), FARVEC_INVALID_ARGUMENT, "results");
  CHECK(farvec_results_queries(NULL) == 0 && farvec_results_count(NULL, 0) == 0);
  CHECK(farvec_results_ids(NULL, 0) == NULL && farvec_results_distances(NULL, 0) == NULL);
  CHECK(farvec_results_attributes(NULL, 0, 0) == NULL);
  CHECK(farvec_rows_count(NULL) == 0 && farvec_rows_found(NULL, 0) == 0);
  CHECK(farvec_rows_id(NULL, 0) == FARVEC_NO_ID && farvec_rows_vector(NULL, 0) == NULL);
  CHECK(farvec_rows_attributes(NULL, 0) == NULL && farvec_rows_matches(NULL) == 0);
  CHECK(farvec_rows_more(NULL) == 0);
  farvec_close(NULL);
  farvec_results_free(NULL);
  farvec_rows_free(NULL);
  farvec_cursor_free(NULL);
  farvec_text_free(NULL);
}

static void try_null_arguments(farvec_connection* connection, const sample* rows) {
  farvec_results* results = NULL;
  farvec_rows* read = NULL;
  farvec_cursor* cursor = NULL;
  farvec_search_options options = {0};
  const char* const columns[] = {NULL};
  const uint64_t id = 1;
  farvec_vectors no_data = rows->rows;
  no_data.data = NULL;
  options.size = sizeof options;
  CHECK_FAILS(farvec_search(connection, NULL, NULL, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "queries: it is a null pointer");
  CHECK_FAILS(farvec_search(connection, &no_data, NULL, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "queries.data");
  CHECK_FAILS(farvec_search(connection, &rows->rows, NULL, NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "results");
  options.column_count = 1;
  CHECK_FAILS(farvec_search(connection, &rows->rows, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "options.columns");
  options.columns = columns;
  CHECK_FAILS(farvec_search(connection, &rows->rows, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "options.columns");
  CHECK_FAILS(farvec_cursor_open(connection, &rows->rows, NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "cursor");
  CHECK_FAILS(farvec_cursor_open(connection, NULL, NULL, &cursor, &error), FARVEC_INVALID_ARGUMENT,
              "query");
  CHECK_FAILS(farvec_insert(connection, &rows->rows, NULL, NULL, NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "ids");
  CHECK_FAILS(farvec_insert(connection, NULL, NULL, NULL, NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "rows");
  CHECK_FAILS(farvec_erase(connection, NULL, 1, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "ids");
  CHECK_FAILS(farvec_update(connection, NULL, 1, NULL, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "attributes");
  CHECK_FAILS(farvec_update_matching(connection, "true", NULL, NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "attributes");
  CHECK_FAILS(farvec_get(connection, NULL, 1, NULL, &read, &error), FARVEC_INVALID_ARGUMENT, "ids");
  // Counts that no memory has do not wrap.
  CHECK_FAILS(farvec_get(connection, &id, SIZE_MAX / 8 + 1, NULL, &read, &error),
              FARVEC_INVALID_ARGUMENT, "ids: 2305843009213693952 are more");
  CHECK_FAILS(farvec_erase(connection, &id, SIZE_MAX / 8 + 2, NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "ids: 2305843009213693953 are more");
  CHECK_FAILS(farvec_get(connection, &id, SIZE_MAX, NULL, &read, &error), FARVEC_INVALID_ARGUMENT,
              "ids: ");
  CHECK(read == NULL);
  CHECK_FAILS(farvec_get(connection, NULL, 0, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT, "rows");
  CHECK_FAILS(farvec_describe(connection, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT,
              "description");
  CHECK_FAILS(farvec_state(connection, NULL, NULL, &error), FARVEC_INVALID_ARGUMENT, "json");
}

void test_arguments(void) {
  node served = start_collection("arguments", FARVEC_F32, kDimension, NULL);
  farvec_connection* const connection = connect_to(&served);
  sample rows = make_sample(FARVEC_F32, kDimension, 2, 1);
  CHECK(strcmp(farvec_version(), FARVEC_VERSION) == 0);
  CHECK(strcmp(farvec_status_name(FARVEC_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED") == 0);
  CHECK(strcmp(farvec_status_name(2), "UNKNOWN") == 0);
  CHECK(strcmp(farvec_status_name(-1), "UNKNOWN") == 0);
  CHECK(strcmp(farvec_status_name(256), "UNKNOWN") == 0);
  try_connect();
  try_nothing();
  try_null_arguments(connection, &rows);
  farvec_close(connection);
  free_sample(&rows);
}

static void try_shape(farvec_connection* connection, const farvec_vectors* queries,
                      const char* words) {
  farvec_results* results = NULL;
  const uint64_t ids[] = {1, 2};
  CHECK_FAILS(farvec_search(connection, queries, NULL, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, words);
  CHECK(results == NULL);
  CHECK(farvec_insert(connection, queries, ids, NULL, NULL, NULL, &error) ==
        FARVEC_INVALID_ARGUMENT);
}

static void try_values(farvec_connection* connection, double value) {
  float bad[2 * kDimension] = {0};
  const farvec_vectors queries = {bad, 2, kDimension, FARVEC_F32};
  bad[kDimension + 3] = (float)value;
  try_shape(connection, &queries, "row 1");
}

static void try_options(farvec_connection* connection, const farvec_vectors* queries,
                        const farvec_search_options* options, const char* words) {
  farvec_search_options given = *options;
  farvec_results* results = NULL;
  given.size = sizeof given;
  CHECK_FAILS(farvec_search(connection, queries, &given, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, words);
  CHECK(results == NULL);
}

static void try_texts(farvec_connection* connection, const farvec_vectors* queries) {
  static const char* const columns[] = {"\xff"};
  farvec_search_options options = {0};
  farvec_rows* listed = NULL;
  options.filter = "\xff";
  try_options(connection, queries, &options, "options.filter: it is no UTF-8");
  options.filter = NULL;
  options.columns = columns;
  options.column_count = 1;
  try_options(connection, queries, &options, "options.columns: it is no UTF-8");
  CHECK_FAILS(farvec_list(connection, "\xff", 0, 1, NULL, &listed, &error), FARVEC_INVALID_ARGUMENT,
              "filter: it is no UTF-8");
  CHECK_FAILS(farvec_erase_matching(connection, "\xff", NULL, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "filter: it is no UTF-8");
  // What a message repeats of the caller's bytes is UTF-8 again.
  {
    farvec_connect_options access = {0};
    farvec_connection* second = NULL;
    access.size = sizeof access;
    access.address = "unix:/nowhere/\xff\xc3\xa9";
    CHECK(farvec_connect(&access, NULL, &second, &error) != FARVEC_OK);
    CHECK(strchr(error.message, 0xff) == NULL);
  }
}

void test_bad_searches(void) {
  node served = start_collection("bad", FARVEC_F32, kDimension, NULL);
  farvec_connection* const connection = connect_to(&served);
  sample rows = make_sample(FARVEC_F32, kDimension, 2, 1);
  farvec_vectors bad = rows.rows;
  farvec_search_options options;
  bad.dimension = kDimension - 1;
  try_shape(connection, &bad, "queries: they are 5 x f32, and what is searched is 6 x f32");
  bad.dimension = 0;
  try_shape(connection, &bad, "dimension: it is 0");
  bad.dimension = UINT32_MAX;
  try_shape(connection, &bad, "dimension: it is 4294967295");
  bad = rows.rows;
  bad.type = FARVEC_U8;
  try_shape(connection, &bad, "6 x u8");
  bad.type = 9;
  try_shape(connection, &bad, "type: it is 9");
  bad.type = -1;
  try_shape(connection, &bad, "type: it is -1");
  bad = rows.rows;
  bad.count = SIZE_MAX / 4;
  try_shape(connection, &bad, "count");
  try_values(connection, NAN);
  try_values(connection, INFINITY);

  memset(&options, 0, sizeof options);
  options.k = UINT32_MAX;
  try_options(connection, &rows.rows, &options, "k: 4294967295 is out of range");
  options.k = 10;
  options.list = 9;
  try_options(connection, &rows.rows, &options, "list: 9");
  options.list = 0;
  options.width = UINT32_MAX;
  try_options(connection, &rows.rows, &options, "width: ");
  options.width = 0;
  options.refine = 2;
  try_options(connection, &rows.rows, &options, "refine: ");
  options.refine = 0;
  options.flags = FARVEC_CANDIDATES;
  try_options(connection, &rows.rows, &options, "FARVEC_CANDIDATES");
  options.flags = 1u << 20;
  try_options(connection, &rows.rows, &options, "flags");
  options.flags = FARVEC_WITHIN;
  options.within = NAN;
  try_options(connection, &rows.rows, &options, "within");
  options.flags = 0;
  options.filter = "price < 20";
  try_options(connection, &rows.rows, &options, "price");
  try_texts(connection, &rows.rows);
  farvec_close(connection);
  free_sample(&rows);
}

typedef struct newer_wait {
  farvec_wait known;
  uint64_t member;
} newer_wait;

typedef struct newer_receipt {
  farvec_receipt known;
  uint64_t member;
} newer_receipt;

// Structs of older and of newer headers than the library.
void test_sizes(void) {
  node served = start_collection("sizes", FARVEC_F32, kDimension, NULL);
  farvec_connection* const connection = connect_to(&served);
  sample rows = make_sample(FARVEC_F32, kDimension, 2, 1);
  const uint64_t ids[] = {1, 2};
  newer_wait wait = {{0}, 0};
  newer_receipt receipt = {{0}, 0};
  farvec_description description;
  wait.known.size = sizeof wait;
  receipt.known.size = sizeof receipt;
  receipt.member = 77;
  CHECK_OK(farvec_insert(connection, &rows.rows, ids, NULL, &wait.known, &receipt.known, &error));
  CHECK(receipt.known.done == 2 && receipt.member == 0);
  CHECK(receipt.known.size == sizeof receipt);
  wait.member = 1;
  CHECK_FAILS(farvec_insert(connection, &rows.rows, ids, NULL, &wait.known, NULL, &error),
              FARVEC_INVALID_ARGUMENT, "wait: it has a member that farvec " FARVEC_VERSION);
  wait.known.size = 3;
  CHECK_FAILS(farvec_flush(connection, &wait.known, &error), FARVEC_INVALID_ARGUMENT, "wait.size");
  wait.known.size = SIZE_MAX;
  CHECK_FAILS(farvec_flush(connection, &wait.known, &error), FARVEC_INVALID_ARGUMENT, "wait.size");

  // An older header had fewer members: the library writes no further.
  memset(&description, 0x55, sizeof description);
  description.size = offsetof(farvec_description, type);
  CHECK_OK(farvec_describe(connection, NULL, &description, &error));
  CHECK(description.count == 2 && description.dimension == kDimension);
  CHECK(description.type == 0x55555555 && description.own_ids == 0x55555555);
  farvec_close(connection);
  free_sample(&rows);
}
