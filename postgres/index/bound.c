// Lower bounds of distances. A store sums floats in another order than SQL does, and keeps unit
// vectors of half floats, so its distance may be a little greater than the true one.
#include <postgres.h>

#include <math.h>

#include "postgres/index/scan.h"

#define UNIT_OF_FLOATS 0x1p-24
#define UNIT_OF_HALVES 0x1p-11

// How far two sums of as many products may differ, as a share of the sum of their magnitudes. Sums
// go over at least four lanes.
static double error_of_sum(const StoreShape* shape) {
  return (shape->dimension / 2.0 + 16) * UNIT_OF_FLOATS;
}

static double bound_of_squares(const StoreShape* shape, double distance) {
  // Squares below the smallest floats may be lost.
  const double least = distance * (1 - 2 * error_of_sum(shape)) - 1e-36;
  return least > 0 ? sqrt(least) : 0;
}

static double bound_of_product(const FarvecScan* scan, const StoreShape* shape, double distance) {
  const double magnitudes = scan->query_length * scan->index.meta.longest;
  return distance - 2 * error_of_sum(shape) * magnitudes - 1e-36;
}

static double bound_of_cosine(const StoreShape* shape, double distance) {
  // Both unit vectors are rounded.
  const double rounding = shape->type == FARVEC_F16 ? 2.5 * UNIT_OF_HALVES : 0;
  return distance - 8 * error_of_sum(shape) - rounding;
}

double lower_bound(const FarvecScan* scan, float distance) {
  const StoreShape* shape = &scan->index.meta.shape;
  if (!isfinite(distance)) return -INFINITY;
  switch (shape->metric) {
    case FARVEC_L2:
      return bound_of_squares(shape, (double)distance);
    case FARVEC_INNER_PRODUCT:
      return bound_of_product(scan, shape, (double)distance);
    case FARVEC_COSINE:
      return bound_of_cosine(shape, (double)distance);
    case FARVEC_JACCARD:
      return (double)distance - 1e-6;
    default:
      return (double)distance;  // whole numbers
  }
}
