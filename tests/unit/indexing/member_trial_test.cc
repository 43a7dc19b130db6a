#include "indexing/member_trial.h"

#include <gtest/gtest.h>

#include "indexing/chosen_codes.h"
#include "indexing/cluster_recipe.h"
#include "tests/unit/indexing/odd_rows.h"

namespace farvec::indexing {
namespace {

CodeTraining two_threads() {
  CodeTraining training;
  training.threads = 2;
  return training;
}

/// Many clusters far apart, each of rows that differ by little.
OddRows far_clouds() {
  return {"far clouds", true, [](Random& random, std::vector<float>& row) {
            fill_normal(random, row);
            Random center(random.below(20));
            for (float& value : row) value += static_cast<float>(100 * center.normal());
          }};
}

class Clustered {
 public:
  explicit Clustered(const OddRows& kind)
      : rows_(make_rows(kind, kOddCount, kOddDimension, ElementType::f32)) {
    cluster::ClusteringOptions options;
    options.clusters = 60;
    options.replicas = 2;
    options.threads = 2;
    options.quiet = true;
    layout::Manifest manifest;
    manifest.metric = Metric::l2;
    built_ = build_clusters({manifest, rows_.view()}, options);
  }

  TrialClusters view() const {
    const cluster::Clustering& clusters = built_.clusters;
    return {{rows_.view(),
             clusters.membership(),
             {reinterpret_cast<const std::byte*>(clusters.centroids.data()), clusters.count(),
              kOddDimension, ElementType::f32, clusters.space_dimension * sizeof(float)}},
            Metric::l2};
  }
  double found(std::uint32_t bits) const {
    const TrialClusters clusters = view();
    const quantization::MemberEncoder encoder(clusters.members,
                                              {.metric = Metric::l2, .bits = bits, .threads = 2});
    return MemberTrial(clusters.members, Metric::l2, 1).found(encoder);
  }

 private:
  dataset::VectorSet rows_;
  BuiltClusters built_;
};

TEST(MemberTrial, MoreBitsFindMore) {
  const Clustered plain(odd_rows().front());
  EXPECT_GE(plain.found(4), 0.99);
  EXPECT_LT(plain.found(1), plain.found(4));
}

TEST(MemberTrial, ChoosesTheLeastBitsThatServe) {
  for (const OddRows& kind : {odd_rows()[0], odd_rows()[1], far_clouds()}) {
    const Clustered clustered(kind);
    const auto chosen = choose_member_codes(clustered.view(), {}, two_threads());
    const std::uint32_t bits = chosen.codes->codes().parameters().bits;
    const double usual = clustered.found(2);
    EXPECT_EQ(bits == 2, usual >= 0.99) << kind.name;
    EXPECT_EQ(chosen.why.has_value(), usual < 0.99) << kind.name;
    if (chosen.why) {
      EXPECT_EQ(chosen.why->usual, usual) << kind.name;
      EXPECT_EQ(chosen.why->codes, clustered.found(bits)) << kind.name;
    }
    for (std::uint32_t less = 2; less < bits; ++less) {
      EXPECT_LT(clustered.found(less), 0.99) << kind.name;
    }
    const auto asked = choose_member_codes(clustered.view(), CodeWish{1u, 2}, two_threads());
    EXPECT_EQ(asked.codes->codes().parameters().bits, 1u) << kind.name;
  }
}

}  // namespace
}  // namespace farvec::indexing
