#include "indexing/steering_trial.h"

#include <gtest/gtest.h>

#include "graph/vamana_builder.h"
#include "indexing/codes.h"
#include "quantization/split_codes.h"
#include "tests/unit/indexing/odd_rows.h"

namespace farvec::indexing {
namespace {

/// A graph over some rows, and searches of it.
class Trial {
 public:
  explicit Trial(const OddRows& kind, unsigned threads = 2)
      : rows_(make_rows(kind, kOddCount, kOddDimension, ElementType::f32)),
        graph_(graph::build_vamana(rows_.view(), Metric::l2, options())),
        trial_({rows_.view(), graph_.view(), Metric::l2}, 1, threads) {}

  double by_bits(std::uint32_t bits, std::uint32_t list) const {
    const EncodedRows codes = encode_whole(rows_.view(), Metric::l2, {.bits = bits, .threads = 2});
    const quantization::Rabitq quantizer(
        quantization::code_parameters(codes.header, codes.centroid));
    return trial_.by_codes(quantizer, codes.codes.data(), list);
  }
  double by_edges(std::uint32_t bits, std::uint32_t list) const {
    const quantization::NeighborEncoder encoder({rows_.view(), graph_.view()},
                                                {.metric = Metric::l2, .bits = bits});
    return trial_.by_codes(encoder, list);
  }
  double by_vectors(std::uint32_t list) const { return trial_.by_vectors(list); }

 private:
  static graph::VamanaOptions options() {
    graph::VamanaOptions options;
    options.degree = 24;
    options.list = 60;
    options.threads = 2;
    options.quiet = true;
    return options;
  }

  dataset::VectorSet rows_;
  graph::Graph graph_;
  SteeringTrial trial_;
};

TEST(SteeringTrial, WholeVectorsFindWhatVectorsFind) {
  for (const OddRows& kind : odd_rows()) {
    const Trial trial(kind);
    for (const std::uint32_t list : {10u, 40u, 100u}) {
      EXPECT_EQ(trial.by_bits(quantization::kWholeVectors, list), trial.by_vectors(list))
          << kind.name;
    }
    EXPECT_GE(trial.by_vectors(SteeringTrial::kList), 0.98) << kind.name;
  }
}

TEST(SteeringTrial, CodesLoseWhereAFewDirectionsAreWide) {
  for (const OddRows& kind : odd_rows()) {
    const Trial trial(kind);
    const bool serves = codes_serve([&](std::uint32_t list) { return trial.by_bits(2, list); },
                                    [&](std::uint32_t list) { return trial.by_vectors(list); },
                                    SteeringTrial::kVertexShare);
    EXPECT_EQ(serves, !kind.odd) << kind.name << trial.by_bits(2, SteeringTrial::kList);
  }
}

TEST(SteeringTrial, CodesOfEdgesAreSearchedToo) {
  const Trial plain(odd_rows().front());
  EXPECT_GE(plain.by_edges(4, 100), 0.98);
  EXPECT_LE(plain.by_edges(1, 10), plain.by_edges(4, 10));
}

TEST(SteeringTrial, DoesNotDependOnTheThreads) {
  const OddRows wide = odd_rows()[1];
  const Trial one(wide, 1), many(wide, 5);
  EXPECT_EQ(one.by_vectors(20), many.by_vectors(20));
  EXPECT_EQ(one.by_bits(2, 20), many.by_bits(2, 20));
}

TEST(SteeringTrial, TakesTheSmallestSets) {
  for (const std::size_t count : {1u, 2u, 11u}) {
    const dataset::VectorSet rows =
        make_rows(odd_rows().front(), count, kOddDimension, ElementType::f32);
    graph::VamanaOptions options;
    options.quiet = true;
    const graph::Graph graph = graph::build_vamana(rows.view(), Metric::l2, options);
    const SteeringTrial trial({rows.view(), graph.view(), Metric::l2}, 1, 1);
    EXPECT_EQ(trial.by_vectors(10), 1.0) << count;
  }
}

TEST(SteeringTrial, RulesAreTheirSentences) {
  const auto recall = [](double at_10, double at_16, double at_40, double at_100) {
    return [=](std::uint32_t list) {
      return list <= 10 ? at_10 : list <= 16 ? at_16 : list <= 40 ? at_40 : at_100;
    };
  };
  const auto vectors = recall(0.6, 0.8, 0.95, 0.99);
  EXPECT_TRUE(codes_serve(recall(0, 0, 0.945, 0.985), vectors, 0.4)) << "within the tolerance";
  EXPECT_TRUE(codes_serve(recall(0, 0, 0.805, 0.955), vectors, 0.4)) << "a longer list";
  EXPECT_FALSE(codes_serve(recall(0, 0, 0.805, 0.945), vectors, 0.4));
  EXPECT_FALSE(codes_serve(recall(0, 0, 0.795, 0.99), vectors, 0.4));
  EXPECT_TRUE(codes_serve(recall(0, 0, 0.605, 0.99), vectors, 0.25)) << "a longer list yet";
  const auto easy = recall(0.985, 0.99, 1, 1);
  EXPECT_FALSE(codes_serve(recall(0.87, 0.98, 1, 1), easy, 0.4)) << "the shortest list is enough";
  EXPECT_TRUE(codes_serve(recall(0.89, 0.98, 1, 1), easy, 0.4));
  EXPECT_TRUE(codes_equal_vectors(recall(0.595, 0, 0.945, 0.985), vectors));
  EXPECT_FALSE(codes_equal_vectors(recall(0.585, 0, 0.95, 0.99), vectors)) << "the shortest list";
}

}  // namespace
}  // namespace farvec::indexing
