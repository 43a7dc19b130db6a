// What a process with connections may do besides: fork, take signals, run out of memory.
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kRows = 50, kDimension = 8 };

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

static farvec_results* found(void) {
  farvec_results* results = NULL;
  CHECK_OK(farvec_search(connection, &rows.rows, NULL, NULL, &results, &error));
  check_nearest(results, &rows, NULL, &rows.rows, 10, 0);
  return results;
}

static void use_in_child(farvec_results* parents, farvec_cursor* cursor) {
  farvec_connect_options options = {0};
  farvec_connection* own = NULL;
  farvec_results* results = NULL;
  farvec_cursor* second = NULL;
  options.size = sizeof options;
  options.address = served.address;
  CHECK_FAILS(farvec_search(connection, &rows.rows, NULL, NULL, &results, &error),
              FARVEC_FAILED_PRECONDITION, "fork()");
  CHECK_FAILS(farvec_flush(connection, NULL, &error), FARVEC_FAILED_PRECONDITION, "fork()");
  CHECK_FAILS(farvec_cursor_next(cursor, 1, NULL, &results, &error), FARVEC_FAILED_PRECONDITION,
              "fork()");
  CHECK_FAILS(farvec_cursor_open(connection, &rows.rows, NULL, &second, &error),
              FARVEC_FAILED_PRECONDITION, "fork()");
  CHECK_FAILS(farvec_connect(&options, NULL, &own, &error), FARVEC_FAILED_PRECONDITION, "fork()");
  // Results are plain memory.
  check_nearest(parents, &rows, NULL, &rows.rows, 10, 0);
  farvec_results_free(parents);
  farvec_cursor_free(cursor);
  farvec_close(connection);
}

void test_fork(void) {
  farvec_results* results;
  farvec_cursor* cursor = NULL;
  farvec_vectors query;
  pid_t child;
  int status = -1;
  begin("fork");
  query = one_row(&rows, 0);
  results = found();
  CHECK_OK(farvec_cursor_open(connection, &query, NULL, &cursor, &error));
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    use_in_child(results, cursor);
    _exit(failures == 0 ? 0 : 1);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  // The parent goes on.
  farvec_results_free(results);
  farvec_results_free(found());
  farvec_cursor_free(cursor);
  farvec_close(connection);
  free_sample(&rows);
}

// The signals that a thread of this process blocks, as /proc has them.
static unsigned long long blocked_by(const char* thread) {
  char path[64];
  char line[256];
  unsigned long long blocked = 0;
  FILE* file;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
  file = fopen(path, "r");
  if (file == NULL) return ~0ULL;  // it has ended
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
  }
  fclose(file);
  return blocked;
}

// Whether a thread blocks all signals, or ends soon: one that has just ended seems to block none.
static int blocks_all(const char* thread) {
  // No thread can block these, and the C library keeps two for itself.
  const unsigned long long never = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) | 3ULL << 31;
  const struct timespec pause = {0, 10 * 1000 * 1000};
  int tries;
  for (tries = 0; tries < 500; ++tries) {
    if ((blocked_by(thread) | never) == ~0ULL) return 1;
    nanosleep(&pause, NULL);
  }
  return 0;
}

static size_t check_threads(void) {
  DIR* const folder = opendir("/proc/self/task");
  struct dirent* entry;
  size_t others = 0;
  REQUIRE(folder != NULL);
  while ((entry = readdir(folder)) != NULL) {
    if (entry->d_name[0] == '.' || atoi(entry->d_name) == (int)getpid()) continue;
    ++others;
    CHECK(blocks_all(entry->d_name));
  }
  closedir(folder);
  return others;
}

void test_signals(void) {
  sigset_t before;
  sigset_t after;
  farvec_connection* second;
  char* json = NULL;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  begin("signals");
  farvec_results_free(found());
  CHECK_OK(farvec_flush(connection, NULL, &error));
  CHECK_OK(farvec_state(connection, NULL, &json, &error));
  farvec_text_free(json);
  CHECK(check_threads() > 0);
  second = connect_to(&served);
  check_threads();
  farvec_close(second);
  check_threads();
  farvec_close(connection);
  check_threads();
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  CHECK(sigismember(&after, SIGINT) == sigismember(&before, SIGINT));
  CHECK(sigismember(&after, SIGALRM) == sigismember(&before, SIGALRM));
  free_sample(&rows);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void test_memory(void) {
  // The sanitizers have an operator new of their own.
}

#else

// What C++ calls operator new: here it fails when it is told to.
void* _Znwm(size_t bytes);
void _ZdlPv(void* memory);
void _ZdlPvm(void* memory, size_t bytes);
void _ZSt17__throw_bad_allocv(void);

static pthread_t limited_thread;
static long allocations_left = -1;  // of that thread; negative: any number

void* _Znwm(size_t bytes) {
  void* memory = NULL;
  if (allocations_left >= 0 && pthread_equal(pthread_self(), limited_thread)) {
    if (allocations_left == 0) _ZSt17__throw_bad_allocv();
    --allocations_left;
  }
  memory = malloc(bytes == 0 ? 1 : bytes);
  if (memory == NULL) _ZSt17__throw_bad_allocv();
  return memory;
}
void _ZdlPv(void* memory) {
  free(memory);
}
void _ZdlPvm(void* memory, size_t bytes) {
  (void)bytes;
  free(memory);
}

// Memory runs out at the first allocation of the calling thread, at the second, and so on, until
// there is enough.
void test_memory(void) {
  static const char* const columns[] = {"a column of a name that is too long for any small buffer"};
  farvec_search_options options = {0};
  farvec_results* results = NULL;
  farvec_status status = FARVEC_RESOURCE_EXHAUSTED;
  long allowed;
  begin("memory");
  limited_thread = pthread_self();
  options.size = sizeof options;
  options.filter = "a filter of a length that is too long for any small buffer = 1";
  options.columns = columns;
  options.column_count = 1;
  for (allowed = 0; status == FARVEC_RESOURCE_EXHAUSTED && allowed < 1000; ++allowed) {
    allocations_left = allowed;
    status = farvec_search(connection, &rows.rows, &options, NULL, &results, &error);
    allocations_left = -1;
    CHECK(results == NULL);
    if (status == FARVEC_RESOURCE_EXHAUSTED) CHECK(strstr(error.message, "memory") != NULL);
  }
  // With enough memory the search is refused for its filter.
  CHECK(status == FARVEC_INVALID_ARGUMENT);
  CHECK(allowed > 4);
  farvec_results_free(found());
  farvec_close(connection);
  free_sample(&rows);
}

#endif
