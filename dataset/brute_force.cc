#include "dataset/brute_force.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/finite.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "dataset/finite.h"
#include "dataset/row_selection.h"

namespace farvec::dataset {
namespace {

using Neighbor = std::pair<float, NodeId>;  // compares by distance, then by id

constexpr std::size_t kTileBytes = 128u << 10;  // base rows that stay in the L2 cache
constexpr std::size_t kQueriesPerTask = 16;

/// Keeps the k smallest seen so far, with the greatest of them on top.
class BestNeighbors {
 public:
  void offer(Neighbor candidate, std::uint32_t k) {
    if (heap_.size() < k) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end());
    } else if (candidate < heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  const std::vector<Neighbor>& sorted() {
    std::sort_heap(heap_.begin(), heap_.end());
    return heap_;
  }

 private:
  std::vector<Neighbor> heap_;
};

void check_inputs(const VectorFileInfo& base, const VectorFileInfo& queries, std::uint32_t k) {
  if (base.dimension != queries.dimension || base.type != queries.type) {
    throw Error("'{}' holds {} {}, '{}' {} {}: data and queries must agree", base.path,
                base.dimension, to_string(base.type), queries.path, queries.dimension,
                to_string(queries.type));
  }
  if (k == 0 || k > base.count) {
    throw Error("{} neighbours were asked for, '{}' has {} rows: k must be 1 to that", k, base.path,
                base.count);
  }
}

/// Holds rows in the form that the kernel takes.
class PreparedRows {
 public:
  PreparedRows(const VectorFileInfo& info, const ExactDistance& distance, std::size_t capacity)
      : distance_(distance),
        in_bytes_(info.row_bytes()),
        out_bytes_(packed_bytes(distance.type, info.dimension)),
        raw_(capacity * in_bytes_),
        prepared_(distance.prepare ? capacity * out_bytes_ : 0) {}

  void read(VectorReader& reader, std::uint64_t begin, std::size_t count, unsigned threads) {
    reader.read_rows(begin, count, raw_.data());
    (void)keep_finite({reader.info(), begin, false}, count, raw_.data());
    const VectorFileInfo& info = reader.info();
    parallel_for(count, 1024, threads, [&](std::size_t from, std::size_t to, unsigned) {
      for (std::size_t i = from; i < to; ++i) {
        if (distance_.prepare) {
          distance_.prepare(raw_.data() + i * in_bytes_, prepared_.data() + i * out_bytes_);
        }
        const RowFault fault = fault_of_row(row(i), distance_.type, info.dimension);
        if (fault == RowFault::none) continue;
        throw Error("'{}': row {} {}", info.path, begin + i, to_string(fault));
      }
    });
  }
  const std::byte* row(std::size_t i) const {
    return (distance_.prepare ? prepared_.data() : raw_.data()) + i * out_bytes_;
  }
  std::size_t row_bytes() const { return out_bytes_; }

 private:
  const ExactDistance& distance_;
  std::size_t in_bytes_;
  std::size_t out_bytes_;
  HugeBuffer raw_;
  HugeBuffer prepared_;
};

/// Compares a block of base rows with all queries.
class BlockScan {
 public:
  BlockScan(const PreparedRows& queries, const ExactDistance& distance, std::uint32_t dimension,
            std::uint32_t k)
      : queries_(queries),
        pair_(distance.pair),
        dimension_(dimension),
        k_(k),
        tile_rows_(std::max<std::size_t>(1, kTileBytes / queries.row_bytes())) {}

  /// Compares the rows of `base`, which have the ids of the range `ids`, with queries [from, to).
  void run(const PreparedRows& base, RowRange ids, std::size_t from, std::size_t to,
           std::vector<BestNeighbors>& best) const {
    for (std::uint64_t tile = ids.begin; tile < ids.end; tile += tile_rows_) {
      const std::uint64_t end = std::min<std::uint64_t>(tile + tile_rows_, ids.end);
      for (std::size_t q = from; q < to; ++q) {
        const std::byte* query = queries_.row(q);
        for (std::uint64_t id = tile; id < end; ++id) {
          const float distance = pair_(query, base.row(id - ids.begin), dimension_);
          best[q].offer({orderable(distance), static_cast<NodeId>(id)}, k_);
        }
      }
    }
  }

 private:
  const PreparedRows& queries_;
  float (*pair_)(const void*, const void*, std::uint32_t);
  std::uint32_t dimension_;
  std::uint32_t k_;
  std::size_t tile_rows_;
};

GroundTruth collect(std::vector<BestNeighbors>& best, std::uint32_t k) {
  GroundTruth truth{best.size(), k, {}, {}};
  truth.ids.reserve(best.size() * k);
  truth.distances.reserve(best.size() * k);
  for (BestNeighbors& neighbors : best) {
    for (const auto& [distance, id] : neighbors.sorted()) {
      truth.ids.push_back(id);
      truth.distances.push_back(distance);
    }
  }
  return truth;
}

}  // namespace

GroundTruth exact_neighbors(VectorReader& base, VectorReader& queries,
                            const ExactDistance& distance, const BruteForceOptions& options) {
  const VectorFileInfo& info = base.info();
  check_inputs(info, queries.info(), options.k);
  const unsigned threads = resolve_threads(options.threads);
  const std::size_t query_count = queries.info().count;
  PreparedRows query_rows(queries.info(), distance, query_count);
  query_rows.read(queries, 0, query_count, threads);

  const std::size_t block = std::clamp<std::size_t>(
      options.block_bytes / std::max(info.row_bytes(), query_rows.row_bytes()), 1, info.count);
  PreparedRows base_rows(info, distance, block);
  const BlockScan scan(query_rows, distance, info.dimension, options.k);
  std::vector<BestNeighbors> best(query_count);
  Progress progress("distances", info.count * query_count, options.quiet, options.interrupted);
  for (std::uint64_t begin = 0; begin < info.count; begin += block) {
    const RowRange ids{begin, std::min<std::uint64_t>(begin + block, info.count)};
    base_rows.read(base, begin, ids.size(), threads);
    parallel_for(query_count, kQueriesPerTask, threads,
                 [&](std::size_t from, std::size_t to, unsigned) {
                   scan.run(base_rows, ids, from, to, best);
                   progress.advance((to - from) * ids.size());
                 });
  }
  return collect(best, options.k);
}

}  // namespace farvec::dataset
