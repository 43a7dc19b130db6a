#include "quantization/neighbor_encoder.h"

#include <cstring>

#include "base/check.h"
#include "base/parallel.h"
#include "quantization/edge_encoder.h"
#include "quantization/rotation.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kVertexChunk = 64;
constexpr std::size_t kRowChunk = 1024;

/// Rotated rows and the space that they are in.
struct RotatedRows {
  EdgeSpace space;
  const float* rows;

  const float* row(NodeId v) const { return rows + std::size_t{v} * space.dimension; }
};

NeighborRanges ranges_of(const AdjacencyView& graph, const RotatedRows& rotated,
                         const RowWork& work) {
  std::vector<NeighborRanges> ranges(work.threads);
  parallel_for(graph.count, kVertexChunk, work.threads,
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 EdgeEncoder encoder(rotated.space);
                 std::uint64_t edges = 0;
                 for (std::size_t v = begin; v < end; ++v) {
                   const float* const vertex = rotated.row(static_cast<NodeId>(v));
                   for (std::uint32_t i = 0; i < graph.degrees[v]; ++i) {
                     ranges[worker].include(encoder.fit(vertex, rotated.row(graph.row(v)[i])));
                   }
                   edges += graph.degrees[v];
                 }
                 work.done(edges);
               });
  for (const NeighborRanges& range : ranges) ranges[0].include(range);
  return ranges[0];
}

HugeBuffer rotate_rows(const VectorView& rows, const RabitqParameters& parameters,
                       unsigned threads) {
  const Rotation rotation(parameters.dimension, parameters.seed);
  HugeBuffer rotated(rows.count * rows.dimension * sizeof(float));
  parallel_for(rows.count, kRowChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t v = begin; v < end; ++v) {
      rotate_row(parameters, rotation, rows.row(v),
                 reinterpret_cast<float*>(rotated.data()) + v * rows.dimension);
    }
  });
  return rotated;
}

RotatedRows view_of(const HugeBuffer& rotated, const RabitqParameters& parameters,
                    const std::vector<float>& centroid) {
  return {{parameters.metric, parameters.bits, parameters.dimension, centroid.data()},
          reinterpret_cast<const float*>(rotated.data())};
}

}  // namespace

NeighborEncoder::NeighborEncoder(const EdgeSet& edges, const NeighborTraining& training)
    : edges_(edges), codes_([&] {
        FARVEC_CHECK(edges.graph.count == edges.rows.count, "{} vertices", edges.graph.count);
        NeighborCodes::check_bits(training.bits);
        const unsigned threads = resolve_threads(training.threads);
        RabitqParameters parameters = parameters_without_ranges(
            edges.rows, training.metric, training.bits, training.seed, threads);
        rotated_ = rotate_rows(edges.rows, parameters, threads);
        centroid_ = parameters.centroid;
        Rotation(parameters.dimension, parameters.seed).apply(centroid_.data());
        ranges_of(edges.graph, view_of(rotated_, parameters, centroid_),
                  {threads, training.progress})
            .set(parameters);
        return NeighborCodes(std::move(parameters));
      }()) {}

void NeighborEncoder::encode(NodeId v, std::byte* out) const {
  const RabitqParameters& parameters = codes_.parameters();
  const std::uint32_t degree = edges_.graph.degrees[v];
  std::memset(out, 0, codes_.bytes(degree));
  const RotatedRows rotated = view_of(rotated_, parameters, centroid_);
  EdgeEncoder encoder(rotated.space);
  for (std::uint32_t i = 0; i < degree; ++i) {
    const NeighborFactors factors =
        encoder.fit(rotated.row(v), rotated.row(edges_.graph.row(v)[i]));
    encoder.put(parameters, factors, i, out);
  }
}

}  // namespace farvec::quantization
