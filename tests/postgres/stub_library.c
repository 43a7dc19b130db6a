// A library in place of libfarvec.so, for what real nodes do not do: its address says what it does.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/c/farvec.h"

struct farvec_connection {
  char address[64];
};

struct farvec_results {
  uint64_t id;
  float distance;
};

// Every step takes this long.
static void spend_50_ms(void) {
  const struct timespec pause = {0, 50 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

static farvec_status refused(farvec_error* error, farvec_status status, const char* text,
                             unsigned number) {
  error->status = (int32_t)status;
  snprintf(error->message, sizeof error->message, "%s %u", text, number);
  return status;
}

const char* farvec_version(void) {
  return FARVEC_VERSION;
}

farvec_status farvec_connect(const farvec_connect_options* options, const farvec_wait* wait,
                             farvec_connection** connection, farvec_error* error) {
  (void)wait, (void)error;
  spend_50_ms();
  *connection = calloc(1, sizeof **connection);
  strncpy((*connection)->address, options->address, sizeof(*connection)->address - 1);
  return FARVEC_OK;
}

void farvec_close(farvec_connection* connection) {
  free(connection);
}

farvec_status farvec_describe(farvec_connection* connection, const farvec_wait* wait,
                              farvec_description* description, farvec_error* error) {
  (void)connection, (void)wait, (void)error;
  spend_50_ms();
  *description = (farvec_description){.size = sizeof *description,
                                      .count = 1,
                                      .dimension = 1,
                                      .type = FARVEC_F32,
                                      .metric = FARVEC_L2,
                                      .max_k = 10,
                                      .max_list = 10};
  return FARVEC_OK;
}

farvec_status farvec_state(farvec_connection* connection, const farvec_wait* wait, char** json,
                           farvec_error* error) {
  (void)connection, (void)json;
  return refused(error, FARVEC_INTERNAL, "left:", wait->deadline_ms);
}

void farvec_text_free(char* text) {
  free(text);
}

farvec_status farvec_search(farvec_connection* connection, const farvec_vectors* queries,
                            const farvec_search_options* options, const farvec_wait* wait,
                            farvec_results** results, farvec_error* error) {
  (void)queries, (void)options;
  *results = NULL;
  if (strcmp(connection->address, "left") == 0) {
    return refused(error, FARVEC_INTERNAL, "left:", wait->deadline_ms);
  }
  if (strcmp(connection->address, "cancelled") == 0) {
    return refused(error, FARVEC_CANCELLED, "nobody asked for that", 0);
  }
  if (strcmp(connection->address, "foreign") == 0) {
    return refused(error, FARVEC_INTERNAL, "\xc3\xa9 \xe6\x97\xa5 \xe6\x9c\xac \xff", 1);
  }
  *results = calloc(1, sizeof **results);
  (*results)->distance = strtof(connection->address, NULL);
  return FARVEC_OK;
}

size_t farvec_results_count(const farvec_results* results, size_t query) {
  return results == NULL || query > 0 ? 0 : 1;
}

const uint64_t* farvec_results_ids(const farvec_results* results, size_t query) {
  (void)query;
  return &results->id;
}

const float* farvec_results_distances(const farvec_results* results, size_t query) {
  (void)query;
  return &results->distance;
}

const char* farvec_results_attributes(const farvec_results* results, size_t query, size_t row) {
  (void)results, (void)query, (void)row;
  return NULL;
}

double farvec_results_coverage(const farvec_results* results) {
  (void)results;
  return 1;
}

void farvec_results_free(farvec_results* results) {
  free(results);
}

// What no test of this library calls: the extension asks for all names when it loads it.
static void uncalled(void) {
  abort();
}

#pragma GCC diagnostic ignored "-Wattribute-alias"
#define UNCALLED(name) __typeof__(farvec_##name) farvec_##name __attribute__((alias("uncalled")))
UNCALLED(results_counts);
UNCALLED(cursor_open);
UNCALLED(cursor_next);
UNCALLED(cursor_free);
UNCALLED(insert);
UNCALLED(erase);
UNCALLED(erase_matching);
UNCALLED(get);
UNCALLED(list);
UNCALLED(rows_count);
UNCALLED(rows_found);
UNCALLED(rows_attributes);
UNCALLED(rows_id);
UNCALLED(rows_vector);
UNCALLED(rows_matches);
UNCALLED(rows_free);
