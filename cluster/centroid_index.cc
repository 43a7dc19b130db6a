#include "cluster/centroid_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "cluster/space.h"
#include "graph/adjacency_source.h"
#include "graph/entry_points.h"
#include "graph/stored_row_scorer.h"
#include "graph/vamana_builder.h"
#include "graph/vamana_merge.h"

namespace farvec::cluster {
namespace {

constexpr std::uint32_t kCodeBits = 8;
constexpr std::uint64_t kRotationSeed = 1;
/// With at most this many, comparing with every centroid is as fast as the graph.
constexpr std::size_t kExhaustive = 256;
/// The number of centroids that are scanned in the time that the graph takes for one candidate
/// (bench/cluster_bench.cc).
constexpr std::size_t kScannedPerCandidate = 240;
constexpr std::size_t kEntries = 16;
/// Codes are judged with the kTrialNear nearest centroids of kTrialCentroids centroids: they are
/// good enough when the lists of a search have the share kServing of them.
constexpr std::size_t kTrialCentroids = 16;
constexpr std::uint32_t kTrialNear = 10;
constexpr double kServing = 0.95;

/// The number of candidates kept for `probe` results. The codes are fine, so a few more than asked
/// for suffice; the minimum keeps the greedy search from stopping in a corner.
std::uint32_t list_for(std::uint32_t probe) {
  return probe + probe / 4 + 32;
}

/// The list of a scan, whose codes are coarser.
std::uint32_t scan_list_for(std::uint32_t probe) {
  return probe + probe * 3 / 4 + 48;
}

VectorView view_of(const CentroidParts& parts) {
  const std::uint32_t dimension = std::max(parts.space_dimension, 1u);
  return packed_view(parts.centroids.data(), parts.centroids.size() / dimension,
                     parts.space_dimension, ElementType::f32);
}

CentroidParts checked(CentroidParts parts) {
  const std::uint32_t extra = parts.metric == Metric::inner_product ? 1 : 0;
  if (parts.dimension == 0 || parts.space_dimension != parts.dimension + extra) {
    throw Error("centroids of {} dimensions do not fit vectors of {} under {}: rebuild the index",
                parts.space_dimension, parts.dimension, to_string(parts.metric));
  }
  if (parts.centroids.empty() || parts.centroids.size() % parts.space_dimension != 0) {
    throw Error("{} floats are no centroids of {} dimensions: rebuild the index",
                parts.centroids.size(), parts.space_dimension);
  }
  const std::size_t count = parts.centroids.size() / parts.space_dimension;
  if (parts.graph.count() != count || parts.graph.entry >= count) {
    throw Error("the centroid graph has {} vertices and entry {}, but there are {} centroids",
                parts.graph.count(), parts.graph.entry, count);
  }
  return parts;
}

float root_mean_square_norm(const VectorView& rows) {
  const auto dot = distance::pair_kernel(Metric::inner_product, ElementType::f32, rows.dimension);
  double sum = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    sum -= static_cast<double>(dot(rows.row(i), rows.row(i), rows.dimension));
  }
  return static_cast<float>(std::sqrt(sum / static_cast<double>(rows.count)));
}

/// Estimates centroids by their codes; those that are expanded are compared exactly.
struct CentroidScorer {
  const quantization::Rabitq& quantizer;
  const quantization::RabitqQuery& prepared;
  const std::byte* codes;
  distance::PairKernel pair;
  const float* query;
  const VectorView rows;

  void prefetch(NodeId id) const { quantizer.prefetch_record(codes, id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    quantizer.estimate(prepared, codes, ids, count, out);
  }
  float exact(NodeId id, const NodeRecord&) const {
    return pair(query, rows.row(id), rows.dimension);
  }
};

}  // namespace

std::size_t CentroidScratch::dram_bytes() const {
  return found.capacity() * sizeof(NearCluster) +
         (query.capacity() + distances.capacity() + prepared.scratch.capacity()) * sizeof(float) +
         (prepared.coarse.capacity() + prepared.fine.capacity()) *
             sizeof(quantization::RabitqQuery::Block) +
         scan.dram_bytes() + beam.dram_bytes();
}

namespace {

graph::VamanaOptions graph_options(const CentroidGraphOptions& of_centroids) {
  graph::VamanaOptions options;
  options.degree = 32;
  options.list = 64;
  options.seed = of_centroids.seed;
  options.threads = of_centroids.threads;
  options.quiet = of_centroids.quiet;
  if (of_centroids.interrupted) options.interrupted = of_centroids.interrupted;
  return options;
}

VectorView rows_of(std::span<const float> centroids, std::uint32_t space_dimension) {
  return packed_view(centroids.data(), centroids.size() / space_dimension, space_dimension,
                     ElementType::f32);
}

}  // namespace

graph::Graph build_centroid_graph(std::span<const float> centroids, std::uint32_t space_dimension,
                                  const CentroidGraphOptions& options) {
  return graph::build_vamana(rows_of(centroids, space_dimension), Metric::l2,
                             graph_options(options));
}

graph::Graph merge_centroid_graph(CentroidGraphMerge merge, std::uint64_t& distances) {
  graph::VamanaStats stats;
  graph::Graph graph =
      graph::merge_vamana({std::move(merge.former), std::move(merge.out),
                           rows_of(merge.centroids, merge.space_dimension)},
                          Metric::l2, graph_options({merge.seed, merge.threads}), &stats);
  distances += stats.distances;
  return graph;
}

CentroidIndex::CentroidIndex(CentroidParts parts, unsigned threads)
    : parts_(checked(std::move(parts))),
      count_(view_of(parts_).count),
      entries_(graph::spread_entries(parts_.graph.entry, count_, kEntries)),
      all_(count_) {
  std::iota(all_.begin(), all_.end(), NodeId{0});
  if (parts_.metric == Metric::inner_product) query_norm_ = root_mean_square_norm(view_of(parts_));
  const bool integers = parts_.type == ElementType::u8 || parts_.type == ElementType::i8;
  const bool bytes = parts_.metric == Metric::l2 && integers;
  if (bytes && !parts_.as_floats) take_byte_rows();
  pair_ = distance::pair_kernel(Metric::l2, rows().type, parts_.space_dimension);
  many_ = distance::many_kernel(Metric::l2, rows().type, parts_.space_dimension);
  if (!has_byte_rows()) make_codes(threads);
}

VectorView CentroidIndex::rows() const {
  if (!has_byte_rows()) return view_of(parts_);
  return packed_view(byte_rows_.data(), count_, parts_.space_dimension, parts_.type);
}

/// Keeps the centroids as bytes, unless one of them has other values.
void CentroidIndex::take_byte_rows() {
  const std::uint32_t dimension = parts_.space_dimension;
  std::vector<std::byte> bytes(count_ * dimension);
  std::vector<float> back(dimension);
  for (std::size_t i = 0; i < count_; ++i) {
    const float* const centroid = &parts_.centroids[i * dimension];
    distance::narrow(centroid, parts_.type, dimension, &bytes[i * dimension]);
    distance::widen(&bytes[i * dimension], parts_.type, dimension, back.data());
    if (!std::equal(back.begin(), back.end(), centroid)) return;
  }
  byte_rows_ = std::move(bytes);
  parts_.centroids = std::vector<float>();  // not {}, which would keep the memory
}

void CentroidIndex::make_codes(unsigned threads) {
  quantizer_.emplace(
      quantization::Rabitq::train(view_of(parts_), Metric::l2, kCodeBits, kRotationSeed, threads));
  codes_.emplace(count_ * quantizer_->record_bytes());
  quantizer_->encode(view_of(parts_), codes_->data(), threads);
  if (parts_.scans && count_ > kExhaustive) scan_.emplace(view_of(parts_), threads);
  if (count_ > kExhaustive) judge_codes();
}

template <typename Near>
double CentroidIndex::share_found(const Near& near) const {
  std::vector<float> distances(count_);
  std::size_t found = 0;
  const std::vector<NodeId> samples = graph::spread_ids(count_, kTrialCentroids);
  for (const NodeId sample : samples) {
    const auto* const query = reinterpret_cast<const float*>(rows().row(sample));
    many_(query, rows(), all_, distances.data());
    std::vector<float> sorted = distances;
    std::nth_element(sorted.begin(), sorted.begin() + (kTrialNear - 1), sorted.end());
    const float farthest = sorted[kTrialNear - 1];
    const std::span<const ClusterId> ids = near(query);
    const auto hits = std::count_if(ids.begin(), ids.end(),
                                    [&](ClusterId id) { return distances[id] <= farthest; });
    found += std::min<std::size_t>(static_cast<std::size_t>(hits), kTrialNear);
  }
  return static_cast<double>(found) / static_cast<double>(samples.size() * kTrialNear);
}

void CentroidIndex::judge_codes() {
  CentroidScanScratch scanned;
  const auto by_scan = [&](const float* query) {
    return scan_->near(query, scan_list_for(kTrialNear), scanned);
  };
  if (scan_ && share_found(by_scan) < kServing) scan_.reset();
  quantization::RabitqQuery prepared;
  std::vector<float> estimates(count_);
  std::vector<ClusterId> lowest;
  const auto by_codes = [&](const float* query) {
    quantizer_->prepare(query, prepared);
    quantizer_->estimate(prepared, codes_->data(), all_.data(), count_, estimates.data());
    lowest = all_;
    const std::size_t list = std::min<std::size_t>(list_for(kTrialNear), count_);
    std::nth_element(lowest.begin(), lowest.begin() + static_cast<std::ptrdiff_t>(list - 1),
                     lowest.end(),
                     [&](ClusterId a, ClusterId b) { return estimates[a] < estimates[b]; });
    return std::span<const ClusterId>(lowest).first(list);
  };
  if (share_found(by_codes) >= kServing) return;
  quantizer_.reset();
  codes_.reset();
}

void CentroidIndex::to_space(const void* query, std::vector<float>& out) const {
  out.resize(parts_.space_dimension);
  distance::widen(query, parts_.type, parts_.dimension, out.data());
  if (parts_.metric == Metric::jaccard) scale_to_unit(out);
  if (parts_.metric != Metric::inner_product) return;
  out.back() = 0;
  float norm2 = 0;
  for (const float value : out) norm2 += value * value;
  if (norm2 <= 0) return;
  const float scale = query_norm_ / std::sqrt(norm2);
  for (float& value : out) value *= scale;
}

void CentroidIndex::search(const void* query, std::uint32_t probe, CentroidScratch& scratch) const {
  FARVEC_CHECK(probe > 0);
  probe = static_cast<std::uint32_t>(std::min<std::size_t>(probe, count_));
  if (!has_byte_rows()) to_space(query, scratch.query);
  const void* const point = has_byte_rows() ? query : scratch.query.data();
  if (list_for(probe) >= count_ || count_ <= kExhaustive) {
    rank(all_, point, probe, scratch);
    scratch.counts = {static_cast<std::uint32_t>(count_), 0};
  } else if (!quantizer_) {
    search_graph(graph::StoredRowScorer{rows(), point, pair_, many_}, probe, scratch);
    scratch.counts = {scratch.counts.distances + scratch.counts.estimates, 0};
  } else if (scan_ && count_ <= kScannedPerCandidate * list_for(probe)) {
    const std::span<const ClusterId> near =
        scan_->near(scratch.query.data(), scan_list_for(probe), scratch.scan);
    rank(near, point, probe, scratch);
    scratch.counts = {static_cast<std::uint32_t>(near.size()), static_cast<std::uint32_t>(count_)};
  } else {
    quantizer_->prepare(scratch.query.data(), scratch.prepared);
    const CentroidScorer scorer{*quantizer_, scratch.prepared,     codes_->data(),
                                pair_,       scratch.query.data(), rows()};
    search_graph(scorer, probe, scratch);
  }
  scratch.found.resize(std::min(probe, scratch.beam.results.size()));
  for (std::uint32_t i = 0; i < scratch.found.size(); ++i) {
    const graph::Neighbor near = scratch.beam.results[i];
    scratch.found[i] = {near.id, near.distance};
  }
}

void CentroidIndex::rank(std::span<const ClusterId> centroids, const void* query,
                         std::uint32_t probe, CentroidScratch& scratch) const {
  scratch.distances.resize(centroids.size());
  many_(query, rows(), centroids, scratch.distances.data());
  scratch.beam.results.reset(probe);
  for (std::size_t i = 0; i < centroids.size(); ++i) {
    scratch.beam.results.insert(scratch.distances[i], centroids[i]);
  }
}

template <typename Scorer>
void CentroidIndex::search_graph(const Scorer& scorer, std::uint32_t probe,
                                 CentroidScratch& scratch) const {
  graph::BeamParameters parameters;
  parameters.k = probe;
  parameters.list = list_for(probe);
  parameters.max_degree = parts_.graph.row_capacity();
  parameters.node_count = static_cast<std::uint32_t>(count_);
  graph::AdjacencySource source{parts_.graph};
  const Status status = graph::beam_search(source, scorer, entries_, parameters, scratch.beam);
  FARVEC_CHECK(status.ok(), "{}", status.message());
  scratch.counts = {scratch.beam.counts.distances, scratch.beam.counts.estimates};
}

/// For a query of norm r = query_norm_, |q - c|^2 = r^2 + |c|^2 - 2 q.c, and |c| is about r.
float CentroidIndex::comparable(float distance) const {
  if (parts_.metric != Metric::inner_product || query_norm_ <= 0) return distance;
  return distance / (2 * query_norm_) - query_norm_;
}

std::size_t CentroidIndex::dram_bytes() const {
  return parts_.centroids.capacity() * sizeof(float) + byte_rows_.capacity() +
         (codes_ ? codes_->size() : 0) + (scan_ ? scan_->dram_bytes() : 0) +
         count_ * (parts_.graph.row_capacity() + 2) * sizeof(NodeId);
}

}  // namespace farvec::cluster
