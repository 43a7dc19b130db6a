// Records of slotted pages, out of a pool or from the disk, as a graph search asks for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "layout/slotted/slotted_record.h"
#include "ssd_baseline/pool/record_reader.h"

namespace farvec::ssd_baseline {

/// One fiber's graph::CachedSource; a record's vector is its payload. The reader must outlive it.
template <typename Pool>
class SlottedSource {
 public:
  SlottedSource(const layout::SlottedGeometry& geometry, RecordReader<Pool>& reader,
                std::uint32_t lane)
      : geometry_(geometry), reader_(reader), lane_(lane), neighbors_(geometry.scratch_ids()) {}

  /// Before each search.
  void begin(Ticks deadline) {
    deadline_ = deadline;
    before_ = reader_.counts(lane_);
  }
  /// Of the search since begin().
  PoolCounts counts() const { return reader_.counts(lane_) - before_; }

  void expect(NodeId) const {}
  bool resident(NodeId id) const { return reader_.resident(id); }
  void prefetch(NodeId id) { reader_.prefetch(lane_, id); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    return reader_.read(
        lane_, frontier, deadline_, [&](NodeId id, std::span<const std::byte> bytes) -> Status {
          const auto record = layout::decode_slotted_record(geometry_, bytes, neighbors_);
          if (!record.ok()) return record.status();
          visit(id, record.value());
          return {};
        });
  }

 private:
  const layout::SlottedGeometry& geometry_;
  RecordReader<Pool>& reader_;
  const std::uint32_t lane_;
  std::vector<NodeId> neighbors_;
  Ticks deadline_ = 0;
  PoolCounts before_;
};

}  // namespace farvec::ssd_baseline
