#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static uint32_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

// Half floats of n / 64 for n below 2048, which they hold exactly.
static uint16_t half_of(int n) {
  const unsigned size = (unsigned)(n < 0 ? -n : n);
  const unsigned sign = n < 0 ? 0x8000u : 0u;
  unsigned exponent = 0;
  if (size == 0) return (uint16_t)sign;
  while ((size >> (exponent + 1)) != 0) ++exponent;
  return (uint16_t)(sign | ((exponent + 15 - 6) << 10) | ((size << (10 - exponent)) & 0x3ffu));
}

static double number_of_half(uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const double size = exponent == 0 ? 0 : ldexp(1024 + (half & 0x3ff), exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

static size_t bytes_of_row(farvec_type type, uint32_t dimension) {
  switch (type) {
    case FARVEC_F32:
      return 4 * (size_t)dimension;
    case FARVEC_F16:
      return 2 * (size_t)dimension;
    case FARVEC_U8:
    case FARVEC_I8:
      return dimension;
    case FARVEC_B1:
      break;
  }
  return (dimension + 7) / 8;
}

static void fill_row(farvec_type type, uint32_t dimension, uint64_t* state, unsigned char* row) {
  uint32_t i;
  for (i = 0; i < dimension; ++i) {
    const uint32_t random = next_random(state);
    const float number = (float)(random % 20011) / 10000.0F - 1.0F;
    const uint16_t half = half_of((int)(random % 4001) - 2000);
    if (type == FARVEC_F32) memcpy(row + 4 * (size_t)i, &number, 4);
    if (type == FARVEC_F16) memcpy(row + 2 * (size_t)i, &half, 2);
    if (type == FARVEC_U8 || type == FARVEC_I8) row[i] = (unsigned char)(random % 256);
    if (type == FARVEC_B1 && random % 2 != 0) row[i / 8] |= (unsigned char)(1u << (i % 8));
  }
}

sample make_sample(farvec_type type, uint32_t dimension, size_t count, unsigned seed) {
  sample made;
  uint64_t state = seed;
  size_t row;
  made.row_bytes = bytes_of_row(type, dimension);
  made.bytes = calloc(count + 1, made.row_bytes);
  REQUIRE(made.bytes != NULL);
  for (row = 0; row < count; ++row) {
    fill_row(type, dimension, &state, made.bytes + row * made.row_bytes);
  }
  made.rows.data = made.bytes;
  made.rows.count = count;
  made.rows.dimension = dimension;
  made.rows.type = (int32_t)type;
  return made;
}

void free_sample(sample* made) {
  free(made->bytes);
  made->bytes = NULL;
}

const void* row_of(const sample* made, size_t row) {
  return made->bytes + row * made->row_bytes;
}

farvec_vectors one_row(const sample* made, size_t row) {
  farvec_vectors one = made->rows;
  one.data = row_of(made, row);
  one.count = 1;
  return one;
}

static double element(int32_t type, const unsigned char* row, uint32_t i) {
  float number;
  uint16_t half;
  switch (type) {
    case FARVEC_F32:
      memcpy(&number, row + 4 * (size_t)i, 4);
      return number;
    case FARVEC_F16:
      memcpy(&half, row + 2 * (size_t)i, 2);
      return number_of_half(half);
    case FARVEC_U8:
      return row[i];
    case FARVEC_I8:
      return row[i] < 128 ? row[i] : row[i] - 256;
    default:
      return (row[i / 8] >> (i % 8)) & 1;
  }
}

double distance_between(const farvec_vectors* shape, const void* a, const void* b) {
  double sum = 0;
  uint32_t i;
  for (i = 0; i < shape->dimension; ++i) {
    const double difference = element(shape->type, a, i) - element(shape->type, b, i);
    sum += difference * difference;
  }
  return sum;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

size_t nearest_distances(const sample* among, row_filter keeps, const void* query, size_t k,
                         double* distances) {
  double* const all = malloc((among->rows.count + 1) * sizeof(double));
  size_t count = 0;
  size_t row;
  REQUIRE(all != NULL);
  for (row = 0; row < among->rows.count; ++row) {
    if (keeps != NULL && !keeps(row)) continue;
    all[count++] = distance_between(&among->rows, row_of(among, row), query);
  }
  qsort(all, count, sizeof(double), ascending);
  if (count > k) count = k;
  memcpy(distances, all, count * sizeof(double));
  free(all);
  return count;
}

static int is_near(double a, double b) {
  return fabs(a - b) <= 1e-4 * (1 + fabs(a));
}

static void check_query(const farvec_results* results, size_t query, const sample* among,
                        row_filter keeps, const void* vector, size_t k, uint64_t first_id) {
  double* const expected = malloc((k + 1) * sizeof(double));
  const uint64_t* const ids = farvec_results_ids(results, query);
  const float* const distances = farvec_results_distances(results, query);
  const size_t count = farvec_results_count(results, query);
  size_t i;
  size_t j;
  REQUIRE(expected != NULL);
  REQUIRE(count == nearest_distances(among, keeps, vector, k, expected));
  for (i = 0; i < count; ++i) {
    const uint64_t row = ids[i] - first_id;
    CHECK(is_near(expected[i], distances[i]));
    REQUIRE(row < among->rows.count);
    CHECK(keeps == NULL || keeps((size_t)row));
    CHECK(
        is_near(distance_between(&among->rows, row_of(among, (size_t)row), vector), distances[i]));
    for (j = 0; j < i; ++j) CHECK(ids[j] != ids[i]);
  }
  free(expected);
}

void check_nearest(const farvec_results* results, const sample* among, row_filter keeps,
                   const farvec_vectors* queries, size_t k, uint64_t first_id) {
  const unsigned char* const bytes = queries->data;
  size_t query;
  REQUIRE(results != NULL);
  REQUIRE(farvec_results_queries(results) == queries->count);
  for (query = 0; query < queries->count; ++query) {
    check_query(results, query, among, keeps, bytes + query * among->row_bytes, k, first_id);
  }
}

void write_sample(const sample* made, char* path, size_t room) {
  static const char* const suffixes[] = {".fbin", ".f16bin", ".u8bin", ".i8bin", ".b1bin"};
  const uint32_t header[2] = {(uint32_t)made->rows.count, made->rows.dimension};
  FILE* file;
  REQUIRE(strlen(path) + 8 < room);
  strcat(path, suffixes[made->rows.type]);
  file = fopen(path, "wb");
  REQUIRE(file != NULL);
  REQUIRE(fwrite(header, sizeof header, 1, file) == 1);
  REQUIRE(fwrite(made->bytes, made->row_bytes, made->rows.count, file) == made->rows.count);
  REQUIRE(fclose(file) == 0);
}
