// Inserts, updates and deletes of rows with attributes, and reads of them.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kRows = 300, kDimension = 6 };

static const char* const kSchema[] = {"--schema", "price: i64, section: string not null, tags: set",
                                      NULL};

static node served;
static farvec_connection* connection;
static sample rows;
static farvec_error error;

static int is_cheap(size_t row) {
  return row < 20;
}
static int is_doc(size_t row) {
  return row % 3 == 0;
}
static int is_kept(size_t row) {
  return row >= 10 && !is_doc(row);
}

static const char* section_of(size_t row) {
  return is_doc(row) ? "doc" : "libs";
}

static void insert_with_attributes(void) {
  static char texts[kRows][96];
  const char* attributes[kRows];
  uint64_t ids[kRows];
  farvec_receipt receipt = {0};
  size_t i;
  for (i = 0; i < kRows; ++i) {
    ids[i] = i;
    snprintf(texts[i], sizeof texts[i], "{\"price\": %u, \"section\": \"%s\", \"tags\": [\"t%u\"]}",
             (unsigned)i, section_of(i), (unsigned)(i % 5));
    attributes[i] = texts[i];
  }
  receipt.size = sizeof receipt;
  CHECK_OK(farvec_insert(connection, &rows.rows, ids, attributes, NULL, &receipt, &error));
  CHECK(receipt.done == kRows);
  CHECK_OK(farvec_insert(connection, &rows.rows, ids, attributes, NULL, &receipt, &error));
  CHECK(receipt.replaced == kRows);
}

static void begin(const char* name) {
  served = start_collection(name, FARVEC_F32, kDimension, kSchema);
  connection = connect_to(&served);
  rows = make_sample(FARVEC_F32, kDimension, kRows, 3);
  insert_with_attributes();
}

static void end(void) {
  farvec_close(connection);
  free_sample(&rows);
}

static farvec_results* filtered(const char* filter, const char* const* columns, size_t count) {
  const farvec_vectors query = one_row(&rows, 0);
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  options.size = sizeof options;
  options.list = kRows;
  options.filter = filter;
  options.columns = columns;
  options.column_count = count;
  CHECK_OK(farvec_search(connection, &query, &options, NULL, &results, &error));
  REQUIRE(results != NULL);
  return results;
}

void test_attributes(void) {
  const char* columns[] = {"tags", "price"};
  farvec_vectors query;
  farvec_search_options options = {0};
  farvec_results* results;
  char expected[64];
  size_t i;
  begin("attributes");
  query = one_row(&rows, 0);
  results = filtered("price < 20", columns, 2);
  check_nearest(results, &rows, is_cheap, &query, 10, 0);
  for (i = 0; i < farvec_results_count(results, 0); ++i) {
    const unsigned id = (unsigned)farvec_results_ids(results, 0)[i];
    const char* const text = farvec_results_attributes(results, 0, i);
    snprintf(expected, sizeof expected, "{\"tags\":[\"t%u\"],\"price\":%u}", id % 5, id);
    CHECK(text != NULL && strcmp(text, expected) == 0);
  }
  CHECK(farvec_results_attributes(results, 0, 10) == NULL);
  farvec_results_free(results);
  results = filtered("section = 'doc'", NULL, 0);
  check_nearest(results, &rows, is_doc, &query, 10, 0);
  CHECK(farvec_results_attributes(results, 0, 0) == NULL);
  farvec_results_free(results);
  results = filtered("price > 1000", columns, 2);
  CHECK(farvec_results_queries(results) == 1 && farvec_results_count(results, 0) == 0);
  farvec_results_free(results);

  options.size = sizeof options;
  options.filter = "prize < 20";
  CHECK_FAILS(farvec_search(connection, &query, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "prize");
  options.filter = "price < ";
  CHECK_FAILS(farvec_search(connection, &query, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "filter");
  options.filter = NULL;
  options.columns = columns;
  options.column_count = 1;
  columns[0] = "colour";
  CHECK_FAILS(farvec_search(connection, &query, &options, NULL, &results, &error),
              FARVEC_INVALID_ARGUMENT, "columns: ");
  CHECK(strstr(error.message, "colour") != NULL);
  CHECK(results == NULL);
  end();
}

static void check_listed(const char* filter, row_filter keeps) {
  farvec_rows* listed = NULL;
  uint64_t from = 0;
  size_t expected = 0;
  size_t seen = 0;
  size_t row = 0;
  size_t i;
  int more = 1;
  for (i = 0; i < kRows; ++i) expected += keeps(i) ? 1 : 0;
  while (more && seen <= kRows) {
    CHECK_OK(farvec_list(connection, filter, from, 7, NULL, &listed, &error));
    REQUIRE(listed != NULL);
    CHECK(farvec_rows_matches(listed) == expected);
    for (i = 0; i < farvec_rows_count(listed); ++i, ++row) {
      while (row < kRows && !keeps(row)) ++row;
      CHECK(farvec_rows_id(listed, i) == row);
      CHECK(farvec_rows_vector(listed, i) == NULL);
      CHECK(strstr(farvec_rows_attributes(listed, i), section_of(row)) != NULL);
      from = farvec_rows_id(listed, i) + 1;
      ++seen;
    }
    more = farvec_rows_more(listed);
    farvec_rows_free(listed);
  }
  CHECK(seen == expected);
}

static void check_attributes_of(uint64_t id, const char* expected) {
  farvec_rows* read = NULL;
  CHECK_OK(farvec_get(connection, &id, 1, NULL, &read, &error));
  REQUIRE(read != NULL && farvec_rows_count(read) == 1);
  if (expected == NULL) CHECK(farvec_rows_found(read, 0) == 0);
  if (expected != NULL) {
    REQUIRE(farvec_rows_attributes(read, 0) != NULL);
    CHECK(strcmp(farvec_rows_attributes(read, 0), expected) == 0);
    CHECK(memcmp(farvec_rows_vector(read, 0), row_of(&rows, (size_t)id), rows.row_bytes) == 0);
  }
  farvec_rows_free(read);
}

static void try_updates(void) {
  const uint64_t ids[] = {4, 900, 5};
  const char* values[] = {"{\"price\": -4}", "{\"price\": 0}", "{\"price\": null}"};
  farvec_receipt receipt = {0};
  receipt.size = sizeof receipt;
  CHECK_OK(farvec_update(connection, ids, 3, values, NULL, &receipt, &error));
  CHECK(receipt.done == 2 && receipt.missing == 1);
  check_attributes_of(4, "{\"price\":-4,\"section\":\"libs\",\"tags\":[\"t4\"]}");
  check_attributes_of(5, "{\"price\":null,\"section\":\"libs\",\"tags\":[\"t0\"]}");
  CHECK_OK(farvec_update_matching(connection, "price < 0", "{\"tags\": [\"b\", \"a\"]}", NULL,
                                  &receipt, &error));
  CHECK(receipt.done == 1);
  check_attributes_of(4, "{\"price\":-4,\"section\":\"libs\",\"tags\":[\"a\",\"b\"]}");

  values[1] = "{\"section\": \"doc\"}";
  CHECK_FAILS(farvec_update(connection, ids, 3, values, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "row 1: it names other columns");
  CHECK(receipt.done == 0 && receipt.version == 0);
  values[1] = NULL;
  CHECK_FAILS(farvec_update(connection, ids, 3, values, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "row 1");
  CHECK_FAILS(
      farvec_update_matching(connection, "true", "{\"section\": null}", NULL, &receipt, &error),
      FARVEC_INVALID_ARGUMENT, "section");
  CHECK_FAILS(farvec_update_matching(connection, "", "{\"price\": 1}", NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "\"true\" means every row");
}

static void try_bad_inserts(void) {
  const farvec_vectors two = {row_of(&rows, 0), 2, kDimension, FARVEC_F32};
  const uint64_t ids[] = {7001, 7001};
  const uint64_t good_ids[] = {7001, 7002};
  const uint64_t none[] = {7001, FARVEC_NO_ID};
  const char* attributes[] = {"{\"section\": \"a\"}", "{\"section\": 5}"};
  farvec_receipt receipt = {0};
  receipt.size = sizeof receipt;
  CHECK_FAILS(farvec_insert(connection, &two, ids, NULL, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "section");  // it may not be null
  CHECK_FAILS(farvec_insert(connection, &two, good_ids, attributes, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "row 1");
  attributes[1] = "{\"section\": \"b\", \"colour\": 1}";
  CHECK_FAILS(farvec_insert(connection, &two, good_ids, attributes, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "colour");
  attributes[1] = "{\"section\": ";
  CHECK_FAILS(farvec_insert(connection, &two, good_ids, attributes, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "row 1");
  attributes[1] = "{\"section\": \"b\"}";
  CHECK_FAILS(farvec_insert(connection, &two, ids, attributes, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "7001 comes twice");
  CHECK_FAILS(farvec_insert(connection, &two, none, attributes, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "stands for no row");
  CHECK(receipt.done == 0);
  check_attributes_of(7001, NULL);
  CHECK_OK(farvec_insert(connection, &two, good_ids, attributes, NULL, NULL, &error));
}

void test_changes(void) {
  const uint64_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5000};
  const uint64_t added[] = {7001, 7002};
  farvec_receipt receipt = {0};
  farvec_vectors query;
  farvec_results* results;
  receipt.size = sizeof receipt;
  begin("changes");
  check_listed("section = 'doc'", is_doc);
  try_updates();
  try_bad_inserts();
  CHECK_OK(farvec_erase(connection, added, 2, NULL, &receipt, &error));
  CHECK_OK(farvec_erase(connection, ids, 11, NULL, &receipt, &error));
  CHECK(receipt.done == 10 && receipt.missing == 1);
  CHECK_OK(farvec_erase_matching(connection, "section = 'doc'", NULL, &receipt, &error));
  CHECK(receipt.done == 96);
  CHECK_FAILS(farvec_erase_matching(connection, NULL, NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "\"true\" means every row");
  CHECK_FAILS(farvec_erase_matching(connection, "colour = 1", NULL, &receipt, &error),
              FARVEC_INVALID_ARGUMENT, "colour");
  check_listed(NULL, is_kept);
  CHECK_OK(farvec_flush(connection, NULL, &error));
  CHECK_OK(farvec_compact(connection, NULL, &error));
  query = one_row(&rows, 0);
  results = filtered(NULL, NULL, 0);
  check_nearest(results, &rows, is_kept, &query, 10, 0);
  farvec_results_free(results);
  end();
}
