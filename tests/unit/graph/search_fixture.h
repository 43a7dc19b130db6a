// A small graph and what a search of it takes, for the tests of searches.
#pragma once

#include <gtest/gtest.h>

#include "graph/beam_search.h"
#include "graph/vamana_builder.h"
#include "tests/unit/graph/graph_source.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph::testing {

/// A graph over the first kCount rows of a cloud; the last kQueries are queries.
class SearchFixture : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kCount = 1500;
  static constexpr std::size_t kQueries = 20;

  SearchFixture()
      : cloud_(kCount + kQueries, 12, 3),
        data_(packed_view(cloud_.values.data(), kCount, cloud_.dimension, ElementType::f32)),
        graph_(build_vamana(data_, Metric::l2, quiet_options())) {
    parameters_.max_degree = 16;
    parameters_.node_count = kCount;
    parameters_.list = 40;
  }

  ExactScorer scorer(std::size_t query) const {
    return {data_, cloud_.view().row(kCount + query),
            distance::pair_kernel(Metric::l2, data_.type, data_.dimension)};
  }

  Cloud cloud_;
  VectorView data_;
  Graph graph_;
  BeamParameters parameters_;
  BeamScratch scratch_;
};

}  // namespace farvec::graph::testing
