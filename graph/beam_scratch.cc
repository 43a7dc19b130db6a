#include "graph/beam_scratch.h"

#include <algorithm>

namespace farvec::graph {

namespace {

/// Wider hops read more than they need, and wait hardly less.
constexpr std::uint32_t kMostPassingWidth = 16;

}  // namespace

std::uint32_t BeamParameters::passing_width() const {
  if (out_vertices == nullptr) return width;
  const std::uint64_t left = std::max<std::uint64_t>(1, rows_left(node_count, out));
  const std::uint64_t wide = std::uint64_t{width} * node_count / (2 * left);
  return std::max(width,
                  static_cast<std::uint32_t>(std::min<std::uint64_t>(wide, kMostPassingWidth)));
}

void BeamScratch::reset(const BeamParameters& parameters, bool improving) {
  FARVEC_CHECK(parameters.k > 0 && parameters.k <= parameters.list);
  FARVEC_CHECK(parameters.width > 0 && parameters.width <= kMaxWidth);
  FARVEC_CHECK(parameters.prefetch <= kMaxWidth);
  // There are never more candidates than vertices.
  const std::uint32_t list =
      std::min(parameters.list, std::max(parameters.node_count, parameters.k));
  candidates.reset(list);
  results.reset(parameters.k);
  // About half of the neighbours met are new, and a search expands about `list` vertices.
  const std::uint64_t met = std::uint64_t{list} * parameters.max_degree * 2;
  const auto expected = static_cast<std::uint32_t>(std::min<std::uint64_t>(met, 1u << 20));
  improving ? estimated.reset(expected) : visited.reset(expected);
  const std::size_t batch =
      std::size_t{parameters.passing_width()} * std::max(parameters.max_degree, 1u);
  if (pending.size() < batch) {
    // pending is resized last, because its size is tested: if memory runs out for it, the next call
    // tries again.
    estimates.resize(batch);
    pending.resize(batch);
  }
  // The reserve never needs more than one place for each vertex that may give its own back.
  if (parameters.passes()) {
    const bool counted = parameters.rows_end == kInvalidNode;
    reserve.reset(counted ? parameters.out->count() : parameters.node_count);
  }
  cut_short = false;
  counts = {};
}

std::size_t graph_search_bytes(const GraphSearchShape& shape, std::size_t stack_bytes) {
  BeamParameters parameters;
  parameters.list = shape.list;
  parameters.k = std::min(shape.list, shape.results);
  parameters.width = shape.width;
  parameters.max_degree = shape.max_degree;
  parameters.node_count = shape.node_count;
  BeamScratch scratch;
  scratch.reset(parameters, shape.improving);
  return stack_bytes + scratch.dram_bytes() + shape.dimension * kQueryBytesPerDimension;
}

}  // namespace farvec::graph
