// What every build begins with: the vectors, in the form in which an index stores them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/membership.h"
#include "base/types.h"
#include "dataset/vector_set.h"
#include "layout/region/manifest.h"

namespace farvec::cli {

struct BuildInput {
  std::string data;
  std::string metric;
  std::string name;  ///< of the data set in reports; empty: its folder or file
  bool allow_nonfinite = false;
};

void add_input_options(Command& command, BuildInput& input);

/// The rows of the file; says how many were dropped. Throws Error.
dataset::VectorSet load_source(const BuildInput& input);

/// The rows as the index stores them. `source` is given up when it already is in stored form.
dataset::VectorSet stored_rows(dataset::VectorSet source, Metric metric, unsigned threads);

/// A manifest with all that follows from the data set, the metric and this farvec.
layout::Manifest describe_source(const BuildInput& input, const VectorView& source, Metric metric);

/// How often each of the clusters will be probed, before anybody has counted: a query comes from
/// where there are many vectors.
std::vector<std::uint64_t> expected_frequencies(const MembershipView& membership,
                                                std::uint32_t clusters);

}  // namespace farvec::cli
