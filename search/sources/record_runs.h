// RecordRuns say which reads bring some records of a graph, where one read may bring several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/limits.h"
#include "layout/graph/graph_layout.h"

namespace farvec::search {

struct RunLimits {
  /// Records with at most this many bytes between them share a read.
  std::uint32_t gap_bytes = 0;
  std::uint32_t read_bytes = 0;  ///< the most that one read of several records brings
  std::size_t room = 0;          ///< bytes of the buffer, in which each record has a place alone
};

/// A plan of reads, at most graph::kMaxWidth of them.
class RecordRuns {
 public:
  /// A Run is what one read brings.
  struct Run {
    std::uint64_t offset = 0;  ///< counts from the start of the region
    std::uint32_t bytes = 0;
    std::uint32_t at = 0;  ///< where it goes in the buffer: a multiple of a cache line
  };
  /// A Part says where a record is.
  struct Part {
    std::uint32_t run = 0;
    std::uint32_t skip = 0;  ///< bytes of the run before it
  };

  /// Plans the reads of at most graph::kMaxWidth records. Only records whose offsets ascend share a
  /// read. What is between them is read too, as far as there is room.
  void plan(std::span<const layout::Extent> records, const RunLimits& limits);

  std::span<const Run> runs() const { return {runs_, count_}; }
  /// Needs i below the number of records.
  const Part& part(std::size_t i) const { return parts_[i]; }

 private:
  bool extend(const layout::Extent& record, const RunLimits& limits);

  std::size_t count_ = 0;
  std::size_t between_ = 0;  ///< room that is left for what is between records
  Run runs_[graph::kMaxWidth];
  Part parts_[graph::kMaxWidth];
};

}  // namespace farvec::search
