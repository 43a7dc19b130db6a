// Says how the vectors of a file are compared exactly.
#pragma once

#include "base/types.h"
#include "dataset/brute_force.h"
#include "dataset/vector_file.h"

namespace farvec::search {

/// Cosine compares f32 unit vectors made from the original rows, whatever their stored type; the
/// other metrics compare the rows unchanged. Throws StatusError when the metric cannot.
dataset::ExactDistance exact_distance(Metric metric, const dataset::VectorFileInfo& info);

}  // namespace farvec::search
