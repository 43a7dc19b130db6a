// Connections that repeat one prepared statement, with binary parameters, and time each call.
//
//   one_connection STATEMENT QUERIES.fbin FIRST COUNT PASSES K CLIENTS [SETTING=VALUE]... > OUT
//
// The connections are those of libpq's environment (PGHOST, PGDATABASE). $1 of the statement is a
// `vector`; with QUERIES "-" it is an int, FIRST to FIRST + COUNT - 1. Its first column is an int4
// or an int8. Calls are numbered: each of the CLIENTS threads takes the next one until COUNT *
// PASSES are made. OUT has the microseconds from the first call to the end of the last, those of
// each call (COUNT * PASSES doubles), and the ids of each call (K int64 each, -1 where there were
// fewer rows).
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>

#include "timed_client.h"

static void execute(PGconn* connection, const char* statement) {
  PGresult* result = PQexec(connection, statement);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    die(statement, PQerrorMessage(connection));
  }
  PQclear(result);
}

// Parameters as the server receives them, one after the other.
typedef struct Parameters {
  char* bytes;
  int each;
} Parameters;

static Parameters numbers(int first, int count) {
  Parameters made = {room_for((size_t)count, 4), 4};
  for (int i = 0; i < count; i++) {
    const uint32_t number = htonl((uint32_t)(first + i));
    memcpy(made.bytes + 4 * i, &number, 4);
  }
  return made;
}

static Parameters vectors(const char* path, int first, int count) {
  uint32_t dimension;
  float* rows = read_queries(path, first, count, &dimension);
  Parameters made = {NULL, (int)(4 + 4 * dimension)};
  made.bytes = room_for((size_t)count, (size_t)made.each);
  for (size_t i = 0; i < (size_t)count; i++) {
    char* to = made.bytes + i * (size_t)made.each;
    const uint16_t prefix[2] = {htons((uint16_t)dimension), 0};
    memcpy(to, prefix, 4);
    for (size_t d = 0; d < dimension; d++) {
      uint32_t number;
      memcpy(&number, rows + i * dimension + d, 4);
      number = htonl(number);
      memcpy(to + 4 + 4 * d, &number, 4);
    }
  }
  free(rows);
  return made;
}

static int64_t id_of(const PGresult* result, int row) {
  const unsigned char* bytes = (const unsigned char*)PQgetvalue(result, row, 0);
  const int length = PQgetlength(result, row, 0);
  if (length != 4 && length != 8) die("the first column", "is no int4 or int8");
  uint64_t id = 0;
  for (int i = 0; i < length; i++) id = id << 8 | bytes[i];
  return length == 4 ? (int32_t)id : (int64_t)id;
}

// What all clients share.
typedef struct Work {
  const char* statement;
  char** settings;
  int setting_count;
  Parameters parameters;
  int count;
  size_t calls;
  int k;
  pthread_barrier_t all_are_connected;
  atomic_size_t next;
  double* times;
  int64_t* ids;
} Work;

// Relaxed: a number is given out once, and the threads' ends order what they wrote.
static size_t next_of(Work* work) {
  return atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
}

static PGconn* connect_and_prepare(const Work* work) {
  PGconn* connection = PQconnectdb("");
  if (PQstatus(connection) != CONNECTION_OK) die("connect", PQerrorMessage(connection));
  for (int i = 0; i < work->setting_count; i++) {
    char statement[1000];
    snprintf(statement, sizeof statement, "SET %s", work->settings[i]);
    execute(connection, statement);
  }
  PGresult* prepared = PQprepare(connection, "asked", work->statement, 0, NULL);
  if (PQresultStatus(prepared) != PGRES_COMMAND_OK) {
    die(work->statement, PQerrorMessage(connection));
  }
  PQclear(prepared);
  return connection;
}

// One call, with all of its rows.
static void call(Work* work, PGconn* connection, size_t number) {
  const Parameters* parameters = &work->parameters;
  const size_t query = number % (size_t)work->count;
  const char* value = parameters->bytes + query * (size_t)parameters->each;
  const int binary = 1;
  int64_t* ids = work->ids + number * (size_t)work->k;
  const double began = now_us();
  PGresult* result = PQexecPrepared(connection, "asked", 1, &value, &parameters->each, &binary, 1);
  work->times[number] = now_us() - began;
  if (PQresultStatus(result) != PGRES_TUPLES_OK) die("the statement", PQerrorMessage(connection));
  for (int row = 0; row < work->k; row++) {
    ids[row] = row < PQntuples(result) ? id_of(result, row) : -1;
  }
  PQclear(result);
}

static void* run_client(void* argument) {
  Work* work = argument;
  PGconn* connection = connect_and_prepare(work);
  pthread_barrier_wait(&work->all_are_connected);
  for (size_t number = next_of(work); number < work->calls; number = next_of(work)) {
    call(work, connection, number);
  }
  PQfinish(connection);
  return NULL;
}

// The microseconds from the moment when all are connected to the end of the last client.
static double run_clients(Work* work, int clients) {
  pthread_t* threads = room_for((size_t)clients, sizeof *threads);
  pthread_barrier_init(&work->all_are_connected, NULL, (unsigned)clients + 1);
  for (int i = 0; i < clients; i++) {
    if (pthread_create(&threads[i], NULL, run_client, work) != 0) die("threads", "there are none");
  }
  pthread_barrier_wait(&work->all_are_connected);
  const double began = now_us();
  for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
  free(threads);
  return now_us() - began;
}

int main(int count_of_words, char** words) {
  if (count_of_words < 8) {
    die("usage", "STATEMENT QUERIES.fbin|- FIRST COUNT PASSES K CLIENTS [NAME=VALUE]...");
  }
  const int first = atoi(words[3]), count = atoi(words[4]), passes = atoi(words[5]);
  const int k = atoi(words[6]), clients = atoi(words[7]);
  if (count < 1 || passes < 1 || k < 1 || clients < 1) {
    die("usage", "COUNT, PASSES, K and CLIENTS are at least 1");
  }
  Work work = {.statement = words[1],
               .settings = words + 8,
               .setting_count = count_of_words - 8,
               .count = count,
               .calls = (size_t)count * (size_t)passes,
               .k = k};
  work.parameters =
      strcmp(words[2], "-") == 0 ? numbers(first, count) : vectors(words[2], first, count);
  work.times = room_for(work.calls, sizeof *work.times);
  work.ids = room_for(work.calls * (size_t)k, sizeof *work.ids);
  const double took = run_clients(&work, clients);
  write_calls(took, work.times, work.calls, work.ids, work.calls * (size_t)k * sizeof *work.ids);
  return 0;
}
