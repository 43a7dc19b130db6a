#include "quantization/neighbor_encoder.h"

#include <cstring>

#include "base/check.h"
#include "base/parallel.h"
#include "quantization/edge_encoder.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kVertexChunk = 64;
constexpr std::size_t kRowChunk = 1024;

/// Rotated rows and the space that they are in.
struct RotatedRows {
  EdgeSpace space;
  const RabitqParameters& parameters;
  const Rotation& rotation;
  const VectorView& rows;
  const float* kept;  ///< all rows, rotated; null: they are rotated when they are asked for

  /// Returns a row, which `scratch` of the space's dimension may hold.
  const float* row(NodeId v, float* scratch) const {
    if (kept != nullptr) return kept + std::size_t{v} * space.dimension;
    rotate_row(parameters, rotation, rows.row(v), scratch);
    return scratch;
  }
};

/// Fits a vertex's edges one after the other, on one thread.
class EdgeFitter {
 public:
  explicit EdgeFitter(const RotatedRows& rotated)
      : rotated_(rotated),
        encoder_(rotated.space),
        vertex_(rotated.space.dimension),
        neighbor_(rotated.space.dimension) {}

  /// Calls `fitted(i, factors)` after it fitted the edge to neighbour i.
  template <typename Fitted>
  void fit(const AdjacencyView& graph, NodeId v, Fitted fitted) {
    const float* const vertex = rotated_.row(v, vertex_.data());
    for (std::uint32_t i = 0; i < graph.degrees[v]; ++i) {
      const float* const neighbor = rotated_.row(graph.row(v)[i], neighbor_.data());
      fitted(i, encoder_.fit(vertex, neighbor));
    }
  }

  const EdgeEncoder& encoder() const { return encoder_; }

 private:
  const RotatedRows& rotated_;
  EdgeEncoder encoder_;
  std::vector<float> vertex_;
  std::vector<float> neighbor_;
};

NeighborRanges ranges_of(const AdjacencyView& graph, const RotatedRows& rotated,
                         const RowWork& work) {
  std::vector<NeighborRanges> ranges(work.threads);
  parallel_for(graph.count, kVertexChunk, work.threads,
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 EdgeFitter fitter(rotated);
                 std::uint64_t edges = 0;
                 for (std::size_t v = begin; v < end; ++v) {
                   fitter.fit(graph, static_cast<NodeId>(v),
                              [&](std::uint32_t, const NeighborFactors& factors) {
                                ranges[worker].include(factors);
                              });
                   edges += graph.degrees[v];
                 }
                 work.done(edges);
               });
  for (const NeighborRanges& range : ranges) ranges[0].include(range);
  return ranges[0];
}

/// Returns nothing for types whose rows are rotated when they are asked for.
HugeBuffer rotate_rows(const VectorView& rows, const RabitqParameters& parameters,
                       const Rotation& rotation, unsigned threads) {
  if (rows.type != ElementType::f32) return {};
  HugeBuffer rotated(rows.count * rows.dimension * sizeof(float));
  parallel_for(rows.count, kRowChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t v = begin; v < end; ++v) {
      rotate_row(parameters, rotation, rows.row(v),
                 reinterpret_cast<float*>(rotated.data()) + v * rows.dimension);
    }
  });
  return rotated;
}

RotatedRows view_of(const HugeBuffer& rotated, const VectorView& rows,
                    const RabitqParameters& parameters, const Rotation& rotation,
                    const std::vector<float>& centroid) {
  return {{parameters.metric, parameters.bits, parameters.dimension, centroid.data()},
          parameters,
          rotation,
          rows,
          rotated.size() == 0 ? nullptr : reinterpret_cast<const float*>(rotated.data())};
}

}  // namespace

NeighborEncoder::NeighborEncoder(const EdgeSet& edges, const NeighborTraining& training)
    : edges_(edges), codes_([&] {
        FARVEC_CHECK(edges.graph.count == edges.rows.count, "{} vertices", edges.graph.count);
        NeighborCodes::check_bits(training.bits);
        const unsigned threads = resolve_threads(training.threads);
        RabitqParameters parameters = parameters_without_ranges(
            edges.rows, training.metric, training.bits, training.seed, threads);
        rotation_.emplace(parameters.dimension, parameters.seed);
        rotated_ = rotate_rows(edges.rows, parameters, *rotation_, threads);
        centroid_ = parameters.centroid;
        rotation_->apply(centroid_.data());
        const NeighborRanges ranges =
            ranges_of(edges.graph, view_of(rotated_, edges.rows, parameters, *rotation_, centroid_),
                      {threads, training.progress});
        ranges.set(parameters);
        return NeighborCodes(std::move(parameters));
      }()) {}

void NeighborEncoder::encode(NodeId v, std::byte* out) const {
  const RabitqParameters& parameters = codes_.parameters();
  const std::uint32_t degree = edges_.graph.degrees[v];
  std::memset(out, 0, codes_.bytes(degree));
  const RotatedRows rotated = view_of(rotated_, edges_.rows, parameters, *rotation_, centroid_);
  EdgeFitter fitter(rotated);
  fitter.fit(edges_.graph, v, [&](std::uint32_t i, const NeighborFactors& factors) {
    fitter.encoder().put(parameters, factors, i, out);
  });
}

}  // namespace farvec::quantization
