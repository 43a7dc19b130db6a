#include "indexing/chosen_codes.h"

#include <gtest/gtest.h>

#include "graph/vamana_builder.h"
#include "tests/unit/indexing/odd_rows.h"

namespace farvec::indexing {
namespace {

CodeTraining quick() {
  CodeTraining training;
  training.threads = 2;
  return training;
}

struct OddGraph {
  dataset::VectorSet rows;
  graph::Graph graph;
  Metric metric;

  TrialGraph view() const { return {rows.view(), graph.view(), metric}; }
};

OddGraph build_odd(const OddRows& kind, Metric metric = Metric::l2,
                   ElementType type = ElementType::f32) {
  dataset::VectorSet rows = make_rows(kind, kOddCount, kOddDimension, type);
  graph::VamanaOptions options;
  options.degree = 24;
  options.list = 60;
  options.threads = 2;
  options.quiet = true;
  graph::Graph graph = graph::build_vamana(rows.view(), metric, options);
  return {std::move(rows), std::move(graph), metric};
}

TEST(ChosenCodes, FollowTheData) {
  for (const OddRows& kind : odd_rows()) {
    const OddGraph built = build_odd(kind);
    const Chosen<EncodedRows> chosen = choose_codes(built.view(), {}, quick());
    if (!kind.odd) {
      EXPECT_EQ(chosen.codes.header.bits, 2u) << kind.name;
      EXPECT_FALSE(chosen.why) << kind.name;
      continue;
    }
    EXPECT_NE(chosen.codes.header.bits, 2u) << kind.name;
    ASSERT_TRUE(chosen.why) << kind.name;
    EXPECT_EQ(chosen.why->usual_bits, 2u);
    EXPECT_LT(chosen.why->usual, chosen.why->vectors - SteeringTrial::kTolerance) << kind.name;
    EXPECT_GE(chosen.why->codes, chosen.why->vectors - SteeringTrial::kTolerance) << kind.name;
  }
}

TEST(ChosenCodes, FollowTheDataUnderEveryMetricAndType) {
  const OddRows wide = odd_rows()[1];
  for (const ElementType type : {ElementType::f32, ElementType::f16}) {
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      const OddGraph built = build_odd(wide, metric, type);
      const Chosen<EncodedRows> chosen = choose_codes(built.view(), {}, quick());
      if (!chosen.why) continue;
      EXPECT_GE(chosen.why->codes, chosen.why->vectors - SteeringTrial::kTolerance)
          << to_string(metric) << " " << to_string(type);
    }
  }
}

TEST(ChosenCodes, NeverTakeMoreBytesThanVectors) {
  for (const ElementType type : {ElementType::u8, ElementType::i8, ElementType::f16}) {
    for (const OddRows& kind : odd_rows()) {
      const OddGraph built = build_odd(kind, Metric::l2, type);
      const Chosen<EncodedRows> chosen = choose_codes(built.view(), {}, quick());
      EXPECT_LE(chosen.codes.header.record_bytes, built.rows.view().row_bytes()) << kind.name;
    }
  }
}

TEST(ChosenCodes, BitsThatWereAskedForStayAndTheirLossIsTold) {
  const OddGraph built = build_odd(odd_rows()[1]);
  const Chosen<EncodedRows> chosen = choose_codes(built.view(), CodeWish{3u, 2}, quick());
  EXPECT_EQ(chosen.codes.header.bits, 3u);
  ASSERT_TRUE(chosen.why);
  EXPECT_EQ(chosen.why->usual_bits, 3u);
  EXPECT_EQ(chosen.why->codes, chosen.why->usual);
  const Chosen<EncodedRows> whole =
      choose_codes(built.view(), CodeWish{quantization::kWholeVectors, 2}, quick());
  EXPECT_EQ(whole.codes.header.bits, quantization::kWholeVectors);
  EXPECT_FALSE(whole.why);
}

TEST(ChosenCodes, EdgesHaveTheBitsThatTheyCanHave) {
  const OddRows heavy{"heavy tails", true, [](Random& random, std::vector<float>& row) {
                        for (float& value : row) {
                          value = static_cast<float>(random.normal() / random.uniform());
                        }
                      }};
  for (const OddRows& kind : {odd_rows()[0], heavy}) {
    const OddGraph odd = build_odd(kind);
    const auto chosen = choose_edge_codes(odd.view(), CodeWish{std::nullopt, 1}, quick());
    ASSERT_TRUE(chosen.why) << kind.name;
    EXPECT_GE(chosen.why->codes, chosen.why->usual) << kind.name;
    if (kind.name != heavy.name) {
      EXPECT_GT(chosen.codes->codes().parameters().bits, 1u) << kind.name;
    }
  }
}

TEST(ChosenCodes, CodesInTwoPartsAreJudged) {
  const OddGraph built = build_odd(odd_rows()[1]);
  CodeTraining training = quick();
  training.bits = 4;
  const Chosen<EncodedRows> chosen = split_codes(built.view(), training);
  EXPECT_EQ(chosen.codes.header.bits, 1u);
  EXPECT_EQ(chosen.codes.header.extension_bits, 4u);
  ASSERT_TRUE(chosen.why);
  EXPECT_LT(chosen.why->codes, chosen.why->vectors);
}

}  // namespace
}  // namespace farvec::indexing
