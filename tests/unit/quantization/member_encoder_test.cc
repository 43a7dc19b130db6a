#include "quantization/member_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

constexpr std::uint32_t kWidth = 37;
constexpr std::size_t kVectors = 150;
constexpr std::uint32_t kClusters = 5;

/// Vector v is in cluster v % kClusters, and every third one in the next cluster too. The centroids
/// have a coordinate more than the vectors, which is none of theirs.
struct Sample {
  explicit Sample(Metric metric_) : metric(metric_), rows(sample_rows(kVectors, kWidth, 1)) {
    if (metric == Metric::cosine) normalize_rows(rows, kWidth);
    centroids.assign(kClusters * (kWidth + 1), 99);
    for (std::uint32_t c = 0; c < kClusters; ++c) {
      for (std::uint32_t i = 0; i < kWidth; ++i) {
        centroids[c * (kWidth + 1) + i] =
            (rows[c * kWidth + i] + rows[(c + kClusters) * kWidth + i]) / 2;
      }
    }
    begins.push_back(0);
    for (std::uint32_t v = 0; v < kVectors; ++v) {
      clusters.push_back(v % kClusters);
      if (v % 3 == 0) clusters.push_back((v + 1) % kClusters);
      begins.push_back(clusters.size());
    }
  }

  MemberSet members() const {
    return {packed_view(rows.data(), kVectors, kWidth, ElementType::f32),
            {begins, clusters},
            {reinterpret_cast<const std::byte*>(centroids.data()), kClusters, kWidth,
             ElementType::f32, (kWidth + 1) * sizeof(float)}};
  }
  std::vector<NodeId> of(ClusterId cluster) const {
    std::vector<NodeId> ids;
    for (NodeId v = 0; v < kVectors; ++v) {
      for (std::uint64_t i = begins[v]; i < begins[v + 1]; ++i) {
        if (clusters[i] == cluster) ids.push_back(v);
      }
    }
    return ids;
  }

  Metric metric;
  std::vector<float> rows, centroids;
  std::vector<std::uint64_t> begins;
  std::vector<ClusterId> clusters;
};

std::vector<std::byte> codes_of(const MemberEncoder& encoder, ClusterId cluster,
                                const std::vector<NodeId>& ids) {
  std::vector<std::byte> codes(encoder.codes().bytes(static_cast<std::uint32_t>(ids.size())));
  encoder.encode(cluster, ids, codes.data());
  return codes;
}

struct MemberErrors {
  double sum = 0, squares = 0, size = 0, count = 0;
};

/// Compares the estimate of every member of a cluster with its exact distance.
void add_errors(const Sample& sample, const MemberEncoder& encoder, ClusterId cluster,
                const float* query, MemberErrors& errors) {
  const std::vector<NodeId> ids = sample.of(cluster);
  const std::vector<std::byte> codes = codes_of(encoder, cluster, ids);
  NeighborQuery prepared;
  encoder.codes().prepare(query, prepared);
  const auto distance = static_cast<float>(exact_distance(
      sample.metric, sample.centroids.data() + cluster * (kWidth + 1), query, kWidth));
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    float out[kScanBlock];
    (void)encoder.codes().estimate(
        prepared, {codes.data(), i / kScanBlock, distance, std::numeric_limits<float>::max()}, out);
    const double exact =
        exact_distance(sample.metric, sample.rows.data() + ids[i] * kWidth, query, kWidth);
    const double error = static_cast<double>(out[i % kScanBlock]) - exact;
    errors.sum += error;
    errors.squares += error * error;
    errors.size += std::fabs(exact);
    ++errors.count;
  }
}

class MemberEncoderTest : public testing::TestWithParam<Metric> {};

TEST_P(MemberEncoderTest, EstimatesAreUnbiasedAndBetterWithEveryBit) {
  const Sample sample(GetParam());
  std::vector<float> queries = sample_rows(8, kWidth, 2);
  if (GetParam() == Metric::cosine) normalize_rows(queries, kWidth);
  double previous = 1e9;
  for (std::uint32_t bits = 1; bits <= NeighborCodes::kMostBits; ++bits) {
    MemberErrors errors;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const MemberEncoder encoder(sample.members(), {GetParam(), bits, seed, 1});
      for (std::size_t q = 0; q < queries.size(); q += kWidth) {
        for (ClusterId c = 0; c < kClusters; ++c) {
          add_errors(sample, encoder, c, queries.data() + q, errors);
        }
      }
    }
    const double deviation = std::sqrt(errors.squares / errors.count);
    const double mean = errors.sum / errors.count;
    EXPECT_LT(std::fabs(mean), 0.05 * deviation + 1e-4 * errors.size / errors.count) << bits;
    EXPECT_LT(deviation, 0.8 * previous) << bits;
    previous = deviation;
  }
}

INSTANTIATE_TEST_SUITE_P(Metrics, MemberEncoderTest,
                         testing::Values(Metric::l2, Metric::inner_product, Metric::cosine),
                         [](const auto& metric) { return std::string(to_string(metric.param)); });

TEST(MemberEncoder, TheCodesDoNotDependOnTheThreadsNorOnWhoIsBeside) {
  const Sample sample(Metric::l2);
  const MemberEncoder one(sample.members(), {Metric::l2, 2, 9, 1});
  const MemberEncoder three(sample.members(), {Metric::l2, 2, 9, 3});
  for (ClusterId c = 0; c < kClusters; ++c) {
    const std::vector<NodeId> ids = sample.of(c);
    EXPECT_EQ(codes_of(one, c, ids), codes_of(three, c, ids));
    EXPECT_TRUE(codes_of(one, c, {}).empty());
  }
}

TEST(MemberEncoder, AMemberThatIsTheCentroidIsAsFarAsIt) {
  Sample sample(Metric::l2);
  for (std::uint32_t i = 0; i < kWidth; ++i) {
    sample.centroids[i] = sample.rows[i];  // cluster 0's is vector 0
  }
  const MemberEncoder encoder(sample.members(), {Metric::l2, 1, 1, 1});
  const std::vector<std::byte> codes = codes_of(encoder, 0, {0});
  const std::vector<float> query = sample_rows(1, kWidth, 3);
  const double exact = exact_distance(Metric::l2, sample.rows.data(), query.data(), kWidth);
  NeighborQuery prepared;
  encoder.codes().prepare(query.data(), prepared);
  float out[kScanBlock];
  (void)encoder.codes().estimate(prepared, {codes.data(), 0, static_cast<float>(exact), 1e30f},
                                 out);
  // Add and rescale are rounded to steps of their ranges.
  EXPECT_NEAR(out[0], exact, 1e-3 * exact);
}

TEST(MemberEncoder, RefusesWhatCannotBeEncoded) {
  const Sample sample(Metric::l2);
  EXPECT_THROW(MemberEncoder(sample.members(), {Metric::l2, 0, 1, 1}), Error);
  EXPECT_THROW(MemberEncoder(sample.members(), {Metric::l2, 5, 1, 1}), Error);
  EXPECT_THROW(MemberEncoder(MemberSet{}, {Metric::l2, 1, 1, 1}), Error);
}

}  // namespace
}  // namespace farvec::quantization
