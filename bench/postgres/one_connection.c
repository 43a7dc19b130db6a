// One connection that repeats one prepared statement, with binary parameters, and times each call.
//
//   one_connection STATEMENT QUERIES.fbin FIRST COUNT PASSES K [SETTING=VALUE]... > OUT
//
// The connection is that of libpq's environment (PGHOST, PGDATABASE). $1 of the statement is a
// `vector`; with QUERIES "-" it is an int, FIRST to FIRST + COUNT - 1. Its first column is an int4
// or an int8. OUT has the microseconds of each call (COUNT * PASSES doubles), then the ids of the
// first pass (COUNT * K int64, -1 where there were fewer rows).
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static PGconn* connection;

static void die(const char* what, const char* why) {
  fprintf(stderr, "one_connection: %s: %s\n", what, why);
  exit(1);
}

static void* room_for(size_t count, size_t bytes) {
  void* room = calloc(count ? count : 1, bytes);
  if (room == NULL) die("memory", "there is not enough");
  return room;
}

static void execute(const char* statement) {
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
  FILE* file = fopen(path, "rb");
  uint32_t head[2];
  if (file == NULL || fread(head, 4, 2, file) != 2) die(path, "cannot be read");
  if (first < 0 || count < 1 || head[0] < (uint32_t)first + (uint32_t)count || head[1] > 16000) {
    die(path, "has not these queries");
  }
  const size_t dimension = head[1];
  Parameters made = {NULL, (int)(4 + 4 * dimension)};
  made.bytes = room_for((size_t)count, (size_t)made.each);
  uint32_t* row = room_for(dimension, 4);
  fseek(file, 8 + (long)(4 * dimension) * first, SEEK_SET);
  for (int i = 0; i < count; i++) {
    if (fread(row, 4, dimension, file) != dimension) die(path, "is too short");
    char* to = made.bytes + (size_t)i * (size_t)made.each;
    const uint16_t prefix[2] = {htons((uint16_t)dimension), 0};
    memcpy(to, prefix, 4);
    for (size_t d = 0; d < dimension; d++) {
      const uint32_t number = htonl(row[d]);
      memcpy(to + 4 + 4 * d, &number, 4);
    }
  }
  free(row);
  fclose(file);
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

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// The microseconds of one call, with all of its rows.
static double call(Parameters parameters, int number, int64_t* ids, int k) {
  const char* value = parameters.bytes + (size_t)number * (size_t)parameters.each;
  const int binary = 1;
  const double began = now_us();
  PGresult* result = PQexecPrepared(connection, "asked", 1, &value, &parameters.each, &binary, 1);
  const double took = now_us() - began;
  if (PQresultStatus(result) != PGRES_TUPLES_OK) die("the statement", PQerrorMessage(connection));
  for (int row = 0; ids != NULL && row < k; row++) {
    ids[row] = row < PQntuples(result) ? id_of(result, row) : -1;
  }
  PQclear(result);
  return took;
}

int main(int count_of_words, char** words) {
  if (count_of_words < 7)
    die("usage", "STATEMENT QUERIES.fbin|- FIRST COUNT PASSES K [NAME=VALUE]...");
  const int first = atoi(words[3]), count = atoi(words[4]), passes = atoi(words[5]),
            k = atoi(words[6]);
  if (count < 1 || passes < 1 || k < 1) die("usage", "COUNT, PASSES and K are at least 1");
  const Parameters parameters =
      strcmp(words[2], "-") == 0 ? numbers(first, count) : vectors(words[2], first, count);
  connection = PQconnectdb("");
  if (PQstatus(connection) != CONNECTION_OK) die("connect", PQerrorMessage(connection));
  for (int i = 7; i < count_of_words; i++) {
    char statement[1000];
    snprintf(statement, sizeof statement, "SET %s", words[i]);
    execute(statement);
  }
  PGresult* prepared = PQprepare(connection, "asked", words[1], 0, NULL);
  if (PQresultStatus(prepared) != PGRES_COMMAND_OK) die(words[1], PQerrorMessage(connection));
  PQclear(prepared);
  int64_t* ids = room_for((size_t)count * (size_t)k, sizeof *ids);
  double* times = room_for((size_t)count * (size_t)passes, sizeof *times);
  for (int i = 0; i < count * passes; i++) {
    const int number = i % count;
    times[i] = call(parameters, number, i < count ? ids + (size_t)number * (size_t)k : NULL, k);
  }
  fwrite(times, sizeof *times, (size_t)count * (size_t)passes, stdout);
  fwrite(ids, sizeof *ids, (size_t)count * (size_t)k, stdout);
  PQfinish(connection);
  return 0;
}
