// A NoLog stands where a log would be, and keeps no record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "wal/log.h"

namespace farvec::wal {

/// It counts the bytes of records, so that positions grow as those of a log do. Nothing is written,
/// nothing waits, and everything is as durable as it will ever be.
class NoLog final : public Log {
 public:
  /// Positions go on from `begin`.
  explicit NoLog(Position begin) : begin_(begin), end_(begin) {}

  using Log::append;
  Result<Position> append(std::span<const std::span<const std::byte>> parts, Ticks) override {
    std::uint64_t bytes = 0;
    for (const std::span<const std::byte> part : parts) bytes += part.size();
    return end_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  }
  Status wait_for_room(std::uint64_t, Ticks) override { return {}; }
  std::size_t max_record_bytes() const override { return std::numeric_limits<std::size_t>::max(); }
  Position end() const override { return end_.load(std::memory_order_relaxed); }
  Position durable() const override { return end(); }
  Status failure() const override { return {}; }
  void request(Position) override {}
  Status flush(Position, Ticks) override { return {}; }
  Status wait(Position, Ticks) override { return {}; }
  void cut(Position) override {}
  std::uint64_t disk_bytes() const override { return 0; }
  Position begin() const override { return begin_; }

 private:
  const Position begin_;
  std::atomic<Position> end_;  ///< relaxed: a count that orders nothing
};

}  // namespace farvec::wal
