// A RegionSource is a log on memories elsewhere in the form that its readers see.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layout/log/log_region.h"
#include "wal/log_memory.h"
#include "wal/log_source.h"

namespace farvec::wal {

/// Returns the header of a memory's region; nothing when there is none. A header that is being
/// written is read again, a few times.
std::optional<layout::LogRegionHeader> read_region_header(LogMemory& memory);

/// Throws Error when the memory holds another log, or has no room for this one.
void require_memory_for(const layout::LogRegionHeader& header, LogMemory& memory);

/// Reads one copy that no other is ahead of, and another one when that copy fails or is damaged.
class RegionSource final : public LogSource, public std::enable_shared_from_this<RegionSource> {
 public:
  enum class Quorum : std::uint8_t {
    asked,  ///< enough copies must answer that one of them has all that was acknowledged
    none
  };
  static std::shared_ptr<RegionSource> make(LogMemories copies, std::uint64_t log_id,
                                            Quorum quorum);

  const std::string& name() const override { return name_; }
  /// Throws Error also when too few copies answer.
  std::vector<LogSegment> segments() override;
  std::unique_ptr<LogSegmentBytes> open(const LogSegment& segment) override;
  bool distrust() override;
  void look_elsewhere() override;

  /// Returns the slots of the last segments(), in their order.
  const std::vector<std::uint32_t>& slots() const { return slots_; }
  const layout::LogRegionHeader& header() const { return header_; }

 private:
  class Bytes;
  RegionSource(LogMemories copies, std::uint64_t log_id, Quorum quorum);

  std::vector<std::optional<layout::LogRegionHeader>> headers();
  void choose();
  void list();
  void list_once();
  std::uint32_t slot_of(std::uint64_t number, std::uint64_t salt) const;

  const LogMemories copies_;
  const std::uint64_t log_id_;
  const Quorum quorum_;
  std::string name_;
  std::vector<bool> bad_;  ///< copies that were damaged, or failed
  std::size_t current_ = 0;
  bool listed_ = false;  ///< whether the members below describe the current copy
  layout::LogRegionHeader header_;
  std::vector<LogSegment> segments_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace farvec::wal
