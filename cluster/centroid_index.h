// A CentroidIndex has the centroids in compute DRAM and finds the clusters that are nearest to a
// query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/progress.h"
#include "base/row_set.h"
#include "base/types.h"
#include "cluster/centroid_scan.h"
#include "distance/distance.h"
#include "graph/beam_search.h"
#include "graph/graph.h"
#include "quantization/rabitq.h"

namespace farvec::cluster {

struct NearCluster {
  ClusterId cluster = 0;
  float distance = 0;  ///< squared, in the space
  bool operator==(const NearCluster&) const = default;
};

/// Counts distances from a query to centroids.
struct CentroidCounts {
  std::uint32_t distances = 0;  ///< exact
  std::uint32_t estimates = 0;  ///< estimated from codes
};

/// A CentroidScratch is the working memory and result of one search. It is reused between searches;
/// each fiber or thread needs its own.
struct CentroidScratch {
  std::vector<NearCluster> found;  ///< ascending by (distance, cluster)
  CentroidCounts counts;           ///< counts of this search

  // The members below are used by CentroidIndex only.
  std::vector<float> query;
  std::vector<float> distances;
  CentroidScanScratch scan;
  quantization::RabitqQuery prepared;
  graph::BeamScratch beam;

  std::size_t dram_bytes() const;
};

struct CentroidGraphOptions {
  std::uint64_t seed = 1;
  unsigned threads = 1;  ///< 0: all processors
  bool quiet = true;     ///< no progress lines
  Interruption interrupted = {};
};

/// Builds the graph in which centroids are searched, over all `centroids` (rows of space_dimension
/// floats). Deterministic like graph::build_vamana(). Throws WorkInterrupted.
graph::Graph build_centroid_graph(std::span<const float> centroids, std::uint32_t space_dimension,
                                  const CentroidGraphOptions& options);

/// Changes that graph when `out` of its centroids have gone, others have moved a little, and new
/// ones were appended.
struct CentroidGraphMerge {
  graph::Graph former{0, 1};
  RowSet out;
  std::span<const float> centroids;  ///< all present centroids
  std::uint32_t space_dimension = 0;
  std::uint64_t seed = 1;
  unsigned threads = 1;
};
/// Works like graph::merge_vamana(); adds the distances that it computes to `distances`.
graph::Graph merge_centroid_graph(CentroidGraphMerge merge, std::uint64_t& distances);

/// CentroidParts are the parts of the index. `space_dimension` is `dimension`, and one more for
/// inner_product.
struct CentroidParts {
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;  ///< stored type of queries
  std::uint32_t dimension = 0;          ///< dimension of queries
  std::uint32_t space_dimension = 0;
  std::vector<float> centroids;  ///< clusters x space_dimension
  graph::Graph graph{0, 1};      ///< made by build_centroid_graph()
  /// Queries estimate all centroids by their codes, where that is faster than the graph.
  bool scans = false;
  /// Whether CentroidIndex::centroid() will be called, so that floats are needed.
  bool as_floats = false;
};

/// It is immutable after construction and shared by all cores. A query is compared with all
/// centroids when they are few. When they are more, neighbours in the graph are estimated from
/// 8-bit RaBitQ codes, or a scan estimates all centroids from codes. Codes are made at
/// construction, and dropped where their estimates lose nearest centroids. Results have exact
/// distances. With l2, centroids that are bytes (for example the heads of a data set of bytes) are
/// kept as bytes, without codes, unless floats are needed: then all distances are exact, and a
/// centroid takes its dimension and 172 bytes instead of five times its dimension and 176.
class CentroidIndex {
 public:
  /// Throws Error when the parts do not fit together.
  explicit CentroidIndex(CentroidParts parts, unsigned threads = 1);

  std::size_t count() const { return count_; }
  std::uint32_t dimension() const { return parts_.dimension; }
  Metric metric() const { return parts_.metric; }
  ElementType type() const { return parts_.type; }

  /// Returns the first dimension() coordinates of a centroid; not for centroids that are kept as
  /// bytes.
  const float* centroid(ClusterId cluster) const {
    return parts_.centroids.data() + std::size_t{cluster} * parts_.space_dimension;
  }

  /// Sets scratch.found to the nearest `probe` clusters (all when there are fewer; `probe` >= 1).
  /// The search is approximate when there are more than a few hundred clusters, and finds nearly
  /// all of them. `query` is a row of the stored type at any alignment. For inner_product the query
  /// is first scaled to the centroids' root mean square norm: its own norm does not change which
  /// vectors are nearest, but would change how much the centroids' norms count. Never suspends;
  /// does not allocate once the scratch has served the largest `probe`.
  void search(const void* query, std::uint32_t probe, CentroidScratch& scratch) const;

  /// Converts a distance that search() has found so that the distances of one query to clusters of
  /// several indexes are in the order in which to probe them. For inner_product, where every index
  /// has its own space and its own scale of queries, the result stands for the product with the
  /// centroid.
  float comparable(float distance) const;

  /// Returns the bytes of centroids, graph and codes.
  std::size_t dram_bytes() const;
  /// Says whether centroids are kept as bytes.
  bool has_byte_rows() const { return !byte_rows_.empty(); }

 private:
  VectorView rows() const;
  void take_byte_rows();
  void make_codes(unsigned threads);
  /// Drops the scan, or all codes, where they do not tell near centroids from far ones.
  void judge_codes();
  /// Returns the share of the nearest centroids of some centroids that near(centroid's row) finds.
  template <typename Near>
  double share_found(const Near& near) const;
  void to_space(const void* query, std::vector<float>& out) const;
  /// Keeps the nearest ones of some centroids.
  void rank(std::span<const ClusterId> centroids, const void* query, std::uint32_t probe,
            CentroidScratch& scratch) const;
  template <typename Scorer>
  void search_graph(const Scorer& scorer, std::uint32_t probe, CentroidScratch& scratch) const;

  CentroidParts parts_;
  std::size_t count_;
  std::vector<std::byte> byte_rows_;  ///< used in place of parts_.centroids
  float query_norm_ = 0;              ///< inner_product: the norm to which queries are scaled
  std::vector<NodeId> entries_;
  std::vector<NodeId> all_;  ///< 0, 1, 2...
  // Empty when centroids are bytes, and where codes lose nearest centroids.
  std::optional<CentroidScan> scan_;
  std::optional<quantization::Rabitq> quantizer_;
  std::optional<HugeBuffer> codes_;
  distance::PairKernel pair_;
  distance::ManyKernel many_;
};

}  // namespace farvec::cluster
