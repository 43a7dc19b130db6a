// Rows for tests, and their nearest neighbours by a plain loop.
#ifndef TESTS_C_SAMPLE_H
#define TESTS_C_SAMPLE_H

#include <farvec.h>

typedef struct sample {
  farvec_vectors rows;
  size_t row_bytes;
  unsigned char* bytes;  // of the rows
} sample;

// Rows of random elements, the same for the same seed. free_sample() frees them.
sample make_sample(farvec_type type, uint32_t dimension, size_t count, unsigned seed);
void free_sample(sample* made);

const void* row_of(const sample* made, size_t row);
// One row as queries.
farvec_vectors one_row(const sample* made, size_t row);

// The squared distance of two rows of numbers, or how many of their bits differ.
double distance_between(const farvec_vectors* shape, const void* a, const void* b);

// Says which rows count; NULL: all.
typedef int (*row_filter)(size_t row);
// Writes the distances of the k rows nearest to `query` in order, and returns how many there are.
size_t nearest_distances(const sample* among, row_filter keeps, const void* query, size_t k,
                         double* distances);

// Checks that results are the rows nearest to each query, in order, that each id has its distance,
// and that no id comes twice. The id of row i is `first_id` + i.
void check_nearest(const farvec_results* results, const sample* among, row_filter keeps,
                   const farvec_vectors* queries, size_t k, uint64_t first_id);

// Writes the rows as a file of vectors, and their name to `path`, which has its suffix added.
void write_sample(const sample* made, char* path, size_t room);

#endif
