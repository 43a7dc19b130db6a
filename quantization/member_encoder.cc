#include "quantization/member_encoder.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "quantization/edge_encoder.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kMemberChunk = 256;

EdgeSpace space_of(const RabitqParameters& parameters, const std::vector<float>& centroid) {
  return {parameters.metric, parameters.bits, parameters.dimension, centroid.data()};
}

std::vector<float> rotate_centroids(const VectorView& centroids, const RabitqParameters& parameters,
                                    const Rotation& rotation) {
  RabitqParameters of_floats = parameters;
  of_floats.type = ElementType::f32;
  std::vector<float> rotated(centroids.count * parameters.dimension);
  for (std::size_t c = 0; c < centroids.count; ++c) {
    rotate_row(of_floats, rotation, centroids.row(c), rotated.data() + c * parameters.dimension);
  }
  return rotated;
}

}  // namespace

MemberEncoder::MemberEncoder(const MemberSet& members, const NeighborTraining& training)
    : members_(members),
      codes_(train(training)),
      rotation_(codes_.parameters().dimension, codes_.parameters().seed) {}

RabitqParameters MemberEncoder::train(const NeighborTraining& training) {
  FARVEC_CHECK(members_.membership.count() == members_.rows.count, "{} rows", members_.rows.count);
  NeighborCodes::check_bits(training.bits);
  const unsigned threads = resolve_threads(training.threads);
  RabitqParameters parameters = parameters_without_ranges(members_.rows, training.metric,
                                                          training.bits, training.seed, threads);
  const Rotation rotation(parameters.dimension, parameters.seed);
  rotated_ = rotate_centroids(members_.centroids, parameters, rotation);
  centroid_ = parameters.centroid;
  rotation.apply(centroid_.data());
  std::vector<NeighborRanges> ranges(threads);
  const RowWork work{threads, training.progress};
  parallel_for(members_.rows.count, kMemberChunk, threads,
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 EdgeEncoder encoder(space_of(parameters, centroid_));
                 std::vector<float> row(parameters.dimension);
                 for (std::size_t v = begin; v < end; ++v) {
                   rotate_row(parameters, rotation, members_.rows.row(v), row.data());
                   for (const ClusterId cluster : members_.membership.of(v)) {
                     ranges[worker].include(encoder.fit(centroid_of(cluster), row.data()));
                   }
                 }
                 work.done(end - begin);
               });
  for (const NeighborRanges& range : ranges) ranges[0].include(range);
  ranges[0].set(parameters);
  return parameters;
}

void MemberEncoder::encode(ClusterId cluster, std::span<const NodeId> ids, std::byte* out) const {
  if (ids.empty()) return;
  const RabitqParameters& parameters = codes_.parameters();
  std::memset(out, 0, codes_.bytes(static_cast<std::uint32_t>(ids.size())));
  EdgeEncoder encoder(space_of(parameters, centroid_));
  std::vector<float> row(parameters.dimension);
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    rotate_row(parameters, rotation_, members_.rows.row(ids[i]), row.data());
    encoder.put(parameters, encoder.fit(centroid_of(cluster), row.data()), i, out);
  }
}

}  // namespace farvec::quantization
