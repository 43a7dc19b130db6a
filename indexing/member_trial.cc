#include "indexing/member_trial.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/random.h"
#include "distance/distance.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kQueries = 64;
constexpr std::size_t kClustersOfQuery = 16;

/// A member's exact distance and its estimate.
struct Judged {
  float exact;
  float estimate;
};

/// Counts the hits by distance: rows at the distance of the last neighbour are neighbours.
std::size_t hits_among(std::vector<Judged>& pool, std::size_t wanted, std::size_t list) {
  const auto by_exact = [](const Judged& a, const Judged& b) { return a.exact < b.exact; };
  const auto by_estimate = [](const Judged& a, const Judged& b) { return a.estimate < b.estimate; };
  const auto at = [&](std::size_t n) { return pool.begin() + static_cast<std::ptrdiff_t>(n); };
  std::nth_element(pool.begin(), at(wanted - 1), pool.end(), by_exact);
  const float farthest = pool[wanted - 1].exact;
  if (list < pool.size()) std::nth_element(pool.begin(), at(list), pool.end(), by_estimate);
  const auto found = std::count_if(pool.begin(), at(std::min(list, pool.size())),
                                   [&](const Judged& one) { return one.exact <= farthest; });
  return std::min(static_cast<std::size_t>(found), wanted);
}

}  // namespace

MemberTrial::MemberTrial(const quantization::MemberSet& members, Metric metric, std::uint64_t seed)
    : members_(members), metric_(metric), lists_(members.centroids.count) {
  make_queries(seed);
  gather_members();
}

void MemberTrial::make_queries(std::uint64_t seed) {
  const VectorView& rows = members_.rows;
  const std::size_t width = element_bytes(rows.type);
  // A cluster's first member in the data set and a later one are the parents.
  std::unordered_map<ClusterId, NodeId> first;
  Random random(seed);
  const std::size_t step = std::max<std::size_t>(rows.count / (4 * kQueries), 1);
  for (std::size_t v = random.below(step); v < rows.count && queries_.size() < kQueries;
       v += step) {
    const ClusterId home = members_.membership.of(v).front();
    const NodeId other = first.try_emplace(home, static_cast<NodeId>(v)).first->second;
    Query query{std::vector<std::byte>(rows.row_bytes()), std::vector<float>(rows.dimension), {}};
    const std::byte* const parents[2] = {rows.row(v), rows.row(other)};
    for (std::uint32_t j = 0; j < rows.dimension; ++j) {
      std::memcpy(query.row.data() + j * width, parents[random.next() >> 63] + j * width, width);
    }
    distance::widen(query.row.data(), rows.type, rows.dimension, query.values.data());
    find_clusters(query);
    queries_.push_back(std::move(query));
  }
}

void MemberTrial::find_clusters(Query& query) const {
  const VectorView& centroids = members_.centroids;
  const distance::PairKernel pair =
      distance::pair_kernel(metric_, centroids.type, centroids.dimension);
  std::vector<float> distances(centroids.count);
  for (std::size_t c = 0; c < centroids.count; ++c) {
    distances[c] = pair(query.values.data(), centroids.row(c), centroids.dimension);
  }
  query.clusters.resize(centroids.count);
  std::iota(query.clusters.begin(), query.clusters.end(), ClusterId{0});
  const std::size_t kept = std::min(kClustersOfQuery, centroids.count);
  std::partial_sort(
      query.clusters.begin(), query.clusters.begin() + static_cast<std::ptrdiff_t>(kept),
      query.clusters.end(), [&](ClusterId a, ClusterId b) { return distances[a] < distances[b]; });
  query.clusters.resize(kept);
}

void MemberTrial::gather_members() {
  std::vector<bool> read(lists_.size());
  for (const Query& query : queries_) {
    for (const ClusterId cluster : query.clusters) read[cluster] = true;
  }
  for (std::size_t v = 0; v < members_.rows.count; ++v) {
    for (const ClusterId cluster : members_.membership.of(v)) {
      if (read[cluster]) lists_[cluster].push_back(static_cast<NodeId>(v));
    }
  }
}

std::size_t MemberTrial::hits(const Query& query,
                              const quantization::MemberEncoder& encoder) const {
  const VectorView& rows = members_.rows;
  const quantization::NeighborCodes& codes = encoder.codes();
  const distance::PairKernel exact = distance::pair_kernel(metric_, rows.type, rows.dimension);
  const distance::PairKernel of_centroid =
      distance::pair_kernel(metric_, ElementType::f32, rows.dimension);
  quantization::NeighborQuery prepared;
  codes.prepare(query.row.data(), prepared);
  std::map<NodeId, Judged> pool;
  float estimates[quantization::kScanBlock];
  std::vector<std::byte> bytes;
  for (const ClusterId cluster : query.clusters) {
    const std::vector<NodeId>& ids = lists_[cluster];
    bytes.resize(codes.bytes(static_cast<std::uint32_t>(ids.size())));
    encoder.encode(cluster, ids, bytes.data());
    const float distance =
        of_centroid(query.values.data(), members_.centroids.row(cluster), rows.dimension);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto place = static_cast<std::uint32_t>(i % quantization::kScanBlock);
      if (place == 0) {
        codes.estimate(prepared,
                       {bytes.data(), static_cast<std::uint32_t>(i / quantization::kScanBlock),
                        distance, std::numeric_limits<float>::infinity()},
                       estimates);
      }
      pool.try_emplace(ids[i], Judged{exact(query.row.data(), rows.row(ids[i]), rows.dimension),
                                      estimates[place]});
    }
  }
  std::vector<Judged> judged;
  judged.reserve(pool.size());
  for (const auto& [id, one] : pool) judged.push_back(one);
  return judged.size() < kResults ? kResults : hits_among(judged, kResults, kList);
}

double MemberTrial::found(const quantization::MemberEncoder& encoder) const {
  std::size_t all = 0;
  for (const Query& query : queries_) all += hits(query, encoder);
  return static_cast<double>(all) /
         static_cast<double>(std::max<std::size_t>(queries_.size() * kResults, 1));
}

}  // namespace farvec::indexing
