// Calls that wait: for a node that is gone, that says nothing, or for each other.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kRows = 200, kDimension = 8, kCalls = 40 };

static node served;
static farvec_connection* connection;
static sample rows;
static farvec_error error;

static void begin(const char* name) {
  uint64_t ids[kRows];
  size_t i;
  served = start_collection(name, FARVEC_F32, kDimension, NULL);
  connection = connect_to(&served);
  rows = make_sample(FARVEC_F32, kDimension, kRows, 1);
  for (i = 0; i < kRows; ++i) ids[i] = i;
  CHECK_OK(farvec_insert(connection, &rows.rows, ids, NULL, NULL, NULL, &error));
}

static void end(void) {
  farvec_close(connection);
  free_sample(&rows);
}

// Searches for each of some rows, and checks that it is found.
static void search_for(farvec_connection* with, size_t row, farvec_error* failed) {
  const farvec_vectors query = one_row(&rows, row);
  farvec_results* results = NULL;
  REQUIRE(farvec_search(with, &query, NULL, NULL, &results, failed) == FARVEC_OK);
  CHECK(farvec_results_ids(results, 0)[0] == row);
  CHECK(farvec_results_distances(results, 0)[0] == 0.0F);
  farvec_results_free(results);
}

// Waits until calls succeed again: a node that was killed is started again.
static void search_until_found(void) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  const farvec_vectors query = one_row(&rows, 3);
  farvec_results* results = NULL;
  int tries;
  for (tries = 0; tries < 3000; ++tries) {
    if (farvec_search(connection, &query, NULL, NULL, &results, &error) == FARVEC_OK) break;
    REQUIRE(error.status == FARVEC_UNAVAILABLE || error.status == FARVEC_DEADLINE_EXCEEDED);
    nanosleep(&pause, NULL);
  }
  REQUIRE(results != NULL);
  CHECK(farvec_results_ids(results, 0)[0] == 3);
  farvec_results_free(results);
}

void test_gone(void) {
  char set[kPathRoom];
  const char* serve[] = {"--collection", set, NULL};
  farvec_vectors query;
  farvec_results* results = NULL;
  farvec_receipt receipt = {0};
  const uint64_t id = 3;
  begin("gone");
  query = one_row(&rows, 0);
  search_for(connection, 3, &error);
  CHECK_OK(farvec_flush(connection, NULL, &error));
  stop_node(&served, SIGKILL);
  CHECK_FAILS(farvec_search(connection, &query, NULL, NULL, &results, &error), FARVEC_UNAVAILABLE,
              "compute node unix:");
  CHECK(results == NULL);
  receipt.size = sizeof receipt;
  CHECK_FAILS(farvec_erase(connection, &id, 1, NULL, &receipt, &error), FARVEC_UNAVAILABLE,
              "compute node unix:");
  CHECK(receipt.done == 0);
  path_in_folder(set, "gone.set");
  served = start_node("gone", serve);
  search_until_found();
  end();
}

typedef struct asked {
  pthread_t thread;  // that made the call
  int until;         // how often the call goes on
  int times;
} asked;

static int counts_down(void* context) {
  asked* const state = context;
  CHECK(pthread_equal(pthread_self(), state->thread));
  return ++state->times > state->until;
}

static farvec_wait interrupted_after(asked* state, int until) {
  farvec_wait wait = {0};
  state->thread = pthread_self();
  state->until = until;
  state->times = 0;
  wait.size = sizeof wait;
  wait.interrupted = counts_down;
  wait.context = state;
  return wait;
}

// Each search has queries of its own, which are freed as soon as it returns.
static farvec_status search_freed(const farvec_wait* wait, farvec_results** results) {
  farvec_vectors query = one_row(&rows, 5);
  void* const copy = malloc(rows.row_bytes);
  farvec_status status;
  REQUIRE(copy != NULL);
  memcpy(copy, query.data, rows.row_bytes);
  query.data = copy;
  status = farvec_search(connection, &query, NULL, wait, results, &error);
  memset(copy, 0xff, rows.row_bytes);
  free(copy);
  return status;
}

void test_waits(void) {
  farvec_results* results = NULL;
  farvec_cursor* cursor = NULL;
  farvec_connection* second = NULL;
  farvec_connect_options options = {0};
  farvec_wait wait = {0};
  farvec_receipt receipt = {0};
  farvec_vectors query;
  asked state;
  char* json = NULL;
  const uint64_t id = 100;  // which may be gone then
  begin("waits");
  query = one_row(&rows, 5);
  CHECK_OK(farvec_flush(connection, NULL, &error));
  CHECK_OK(farvec_cursor_open(connection, &query, NULL, &cursor, &error));

  // An interruption that is there already is one before anything is sent.
  wait = interrupted_after(&state, 0);
  CHECK_FAILS(search_freed(&wait, &results), FARVEC_CANCELLED, "interrupted");
  CHECK(state.times == 1);
  wait = interrupted_after(&state, 1000 * 1000);
  CHECK_OK(search_freed(&wait, &results));
  farvec_results_free(results);

  // The node is there, and says nothing.
  pause_node(&served);
  wait = interrupted_after(&state, 5);
  CHECK_FAILS(search_freed(&wait, &results), FARVEC_CANCELLED, "interrupted");
  CHECK(state.times == 6);
  CHECK(results == NULL);
  wait = interrupted_after(&state, 5);
  CHECK_FAILS(farvec_cursor_next(cursor, 10, &wait, &results, &error), FARVEC_CANCELLED,
              "interrupted");
  wait = interrupted_after(&state, 5);
  receipt.size = sizeof receipt;
  CHECK_FAILS(farvec_erase(connection, &id, 1, &wait, &receipt, &error), FARVEC_CANCELLED,
              "interrupted");
  wait = interrupted_after(&state, 5);
  CHECK_FAILS(farvec_flush(connection, &wait, &error), FARVEC_CANCELLED, "interrupted");
  options.size = sizeof options;
  options.address = served.address;
  wait = interrupted_after(&state, 5);
  CHECK_FAILS(farvec_connect(&options, &wait, &second, &error), FARVEC_CANCELLED, "interrupted");
  CHECK(second == NULL);

  memset(&wait, 0, sizeof wait);
  wait.size = sizeof wait;
  wait.deadline_ms = 50;
  CHECK_FAILS(farvec_connect(&options, &wait, &second, &error), FARVEC_DEADLINE_EXCEEDED, "");
  CHECK(second == NULL);
  CHECK_FAILS(search_freed(&wait, &results), FARVEC_DEADLINE_EXCEEDED, "");
  CHECK_FAILS(farvec_flush(connection, &wait, &error), FARVEC_DEADLINE_EXCEEDED, "");
  CHECK_FAILS(farvec_state(connection, &wait, &json, &error), FARVEC_DEADLINE_EXCEEDED, "");
  CHECK(json == NULL);

  // The connection and the cursor work again, and no row was lost.
  kill(served.pid, SIGCONT);
  search_until_found();
  CHECK_OK(farvec_cursor_next(cursor, 10, NULL, &results, &error));
  CHECK(farvec_results_count(results, 0) == 10);
  CHECK(farvec_results_ids(results, 0)[0] == 5);
  farvec_results_free(results);
  farvec_cursor_free(cursor);
  end();
}

static volatile sig_atomic_t waiting;

static int says_that_it_waits(void* context) {
  (void)context;
  if (waiting < 3) ++waiting;
  return 0;
}

static void* wait_for_an_answer(void* status) {
  const farvec_vectors query = one_row(&rows, 5);
  farvec_results* results = NULL;
  farvec_wait wait = {0};
  wait.size = sizeof wait;
  wait.deadline_ms = 300 * 1000;
  wait.interrupted = says_that_it_waits;
  *(farvec_status*)status = farvec_search(connection, &query, NULL, &wait, &results, NULL);
  return NULL;
}

// farvec_close() ends what another thread waits for.
void test_closed(void) {
  const struct timespec pause = {0, 5 * 1000 * 1000};
  farvec_status status = FARVEC_OK;
  pthread_t waiter;
  begin("closed");
  pause_node(&served);
  REQUIRE(pthread_create(&waiter, NULL, wait_for_an_answer, &status) == 0);
  while (waiting < 3) nanosleep(&pause, NULL);
  farvec_close(connection);
  pthread_join(waiter, NULL);
  CHECK(status == FARVEC_CANCELLED);
  kill(served.pid, SIGCONT);
  free_sample(&rows);
}

static void* search_often(void* first) {
  farvec_error failed;
  size_t i;
  for (i = 0; i < kCalls; ++i) search_for(connection, *(size_t*)first + i, &failed);
  return NULL;
}

void test_threads(void) {
  size_t firsts[] = {0, kCalls, 2 * kCalls, 3 * kCalls};
  pthread_t threads[4];
  size_t i;
  begin("threads");
  for (i = 0; i < 4; ++i) {
    REQUIRE(pthread_create(&threads[i], NULL, search_often, &firsts[i]) == 0);
  }
  for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  end();
}

// A program may end while it has connections, and while a call is under way.
void test_left_open(void) {
  farvec_results* results = NULL;
  farvec_wait wait;
  asked state;
  begin("left_open");
  search_for(connection, 3, &error);
  pause_node(&served);
  wait = interrupted_after(&state, 3);
  CHECK_FAILS(search_freed(&wait, &results), FARVEC_CANCELLED, "interrupted");
  free_sample(&rows);
}
