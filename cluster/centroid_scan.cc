#include "cluster/centroid_scan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "distance/distance.h"
#include "quantization/mean.h"
#include "quantization/member_encoder.h"

namespace farvec::cluster {
namespace {

constexpr std::uint32_t kBits = 2;
constexpr std::uint64_t kScanRotationSeed = 1;
constexpr std::uint32_t kSampleStep = 8;

}  // namespace

CentroidScan::CentroidScan(const VectorView& centroids, unsigned threads)
    : count_(static_cast<std::uint32_t>(centroids.count)),
      mean_(quantization::mean_row(centroids, threads)),
      quantizer_([&] {
        // All centroids are the members of one cluster.
        std::vector<std::uint64_t> begins(std::size_t{count_} + 1);
        std::iota(begins.begin(), begins.end(), std::uint64_t{0});
        const std::vector<ClusterId> clusters(count_, 0);
        const quantization::MemberEncoder encoder(
            {centroids,
             {begins, clusters},
             packed_view(mean_.data(), 1, centroids.dimension, ElementType::f32)},
            {Metric::l2, kBits, kScanRotationSeed, threads});
        std::vector<NodeId> all(count_);
        std::iota(all.begin(), all.end(), NodeId{0});
        codes_ = HugeBuffer(encoder.codes().bytes(count_));
        encoder.encode(0, all, codes_.data());
        return encoder.codes();
      }()) {}

std::span<const ClusterId> CentroidScan::near(const float* query, std::uint32_t list,
                                              CentroidScanScratch& scratch) const {
  const auto dimension = static_cast<std::uint32_t>(mean_.size());
  const float distance = distance::pair_kernel(Metric::l2, ElementType::f32, dimension)(
      query, mean_.data(), dimension);
  quantizer_.prepare(query, scratch.prepared);
  // Finds the `most` nearest of `size` centroids below a bound, in every step-th block of all.
  const auto scan = [&](std::uint32_t size, std::uint32_t step, std::uint32_t most, float bound) {
    Shortlist& kept = scratch.list;
    kept.reset(most);
    for_each_near(
        size,
        [&](std::uint32_t block, float* out) {
          return quantizer_.estimate(
              scratch.prepared,
              {codes_.data(), block * step, distance, std::min(bound, kept.bound())}, out);
        },
        [&](std::uint32_t centroid, float estimate) {
          if (estimate < kept.bound()) kept.offer(estimate, centroid);
        });
    return kept.take();
  };
  constexpr float kNone = std::numeric_limits<float>::infinity();
  // A sample tells about where the list will end, so that few are kept only to be dropped again.
  const std::uint32_t sampled = count_ / (quantization::kScanBlock * kSampleStep);
  scan(sampled * quantization::kScanBlock, kSampleStep, 8 + list * 3 / (2 * kSampleStep), kNone);
  const float bound = scratch.list.bound();
  auto found = scan(count_, 1, list, bound);
  if (found.size() < std::min(list, count_)) found = scan(count_, 1, list, kNone);
  return found;
}

}  // namespace farvec::cluster
