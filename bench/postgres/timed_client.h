// What programs share that time calls, one query each: rows of a file, a clock, and what they
// write. It is included first.
#ifndef FARVEC_BENCH_POSTGRES_TIMED_CLIENT_H
#define FARVEC_BENCH_POSTGRES_TIMED_CLIENT_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void die(const char* what, const char* why) {
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
  exit(1);
}

static inline void* room_for(size_t count, size_t bytes) {
  void* room = calloc(count ? count : 1, bytes);
  if (room == NULL) die("memory", "there is not enough");
  return room;
}

// Floats of `count` rows of the file from the first one on, one row after the other.
static inline float* read_queries(const char* path, int first, int count, uint32_t* dimension) {
  FILE* file = fopen(path, "rb");
  uint32_t head[2];
  if (file == NULL || fread(head, 4, 2, file) != 2) die(path, "cannot be read");
  if (first < 0 || count < 1 || head[0] < (uint32_t)first + (uint32_t)count || head[1] > 16000) {
    die(path, "has not these queries");
  }
  *dimension = head[1];
  float* rows = room_for((size_t)count * head[1], sizeof *rows);
  fseek(file, 8 + 4 * (long)head[1] * first, SEEK_SET);
  if (fread(rows, 4 * head[1], (size_t)count, file) != (size_t)count) die(path, "is too short");
  fclose(file);
  return rows;
}

static inline double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// Writes how long all calls took, how long each of them did, and `answers` of `bytes` together.
static inline void write_calls(double took, const double* times, size_t calls, const void* answers,
                               size_t bytes) {
  fwrite(&took, sizeof took, 1, stdout);
  fwrite(times, sizeof *times, calls, stdout);
  fwrite(answers, 1, bytes, stdout);
}

#endif
