#include "cluster/centroid_scan.h"

#include <numeric>

#include "distance/distance.h"
#include "quantization/mean.h"
#include "quantization/member_encoder.h"

namespace farvec::cluster {
namespace {

constexpr std::uint32_t kBits = 4;
constexpr std::uint64_t kRotationSeed = 1;

}  // namespace

CentroidScan::CentroidScan(const VectorView& centroids, unsigned threads)
    : count_(static_cast<std::uint32_t>(centroids.count)),
      mean_(quantization::mean_row(centroids, threads)),
      quantizer_([&] {
        // All of them are the members of one cluster.
        std::vector<std::uint64_t> begins(std::size_t{count_} + 1);
        std::iota(begins.begin(), begins.end(), std::uint64_t{0});
        const std::vector<ClusterId> clusters(count_, 0);
        const quantization::MemberEncoder encoder(
            {centroids,
             {begins, clusters},
             packed_view(mean_.data(), 1, centroids.dimension, ElementType::f32)},
            {Metric::l2, kBits, kRotationSeed, threads});
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
  scratch.list.reset(list);
  for_each_near(
      count_,
      [&](std::uint32_t block, float* out) {
        return quantizer_.estimate(scratch.prepared,
                                   {codes_.data(), block, distance, scratch.list.bound()}, out);
      },
      [&](std::uint32_t centroid, float estimate) {
        if (estimate < scratch.list.bound()) scratch.list.offer(estimate, centroid);
      });
  return scratch.list.take();
}

}  // namespace farvec::cluster
