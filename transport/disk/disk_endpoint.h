// A DiskEndpoint offers an index's records file on a disk as an endpoint, so that every search
// reads it as it reads far memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "disk/disk_engine.h"
#include "transport/endpoint.h"

namespace farvec::transport {

struct DiskEndpointOptions {
  std::uint32_t max_read_bytes = 0;
  /// The most bytes of a read that is not of whole blocks into aligned memory. For each read that
  /// may be out, the endpoint has room for this many bytes and the blocks around them.
  std::uint32_t max_staged_bytes = 0;
};

/// Region 0 is the engine's first file. Reads of whole blocks into aligned memory go straight
/// there. For other reads, the blocks around them go into a buffer of the endpoint, and the bytes
/// are copied out of it. A read that the disk keeps for more than ten seconds ends with
/// deadline_exceeded once its destination is free. The thread that uses it is the engine's.
class DiskEndpoint final : public Endpoint {
 public:
  DiskEndpoint(std::unique_ptr<disk::DiskEngine> engine, const DiskEndpointOptions& options);

  /// Returns the bytes of the endpoint's own buffer, for an engine with `reads` reads.
  static std::size_t staging_bytes(const disk::DiskFile& file, std::uint32_t reads,
                                   const DiskEndpointOptions& options);

  void register_memory(std::span<std::byte> memory) override { engine_->register_memory(memory); }
  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  EndpointLimits limits() const override {
    return {engine_->max_outstanding(), options_.max_read_bytes};
  }
  std::uint64_t region_bytes(RegionId region) const override {
    return region == 0 ? file().size() : 0;
  }
  EndpointUse use() const override;
  std::string description() const override { return engine_->description(); }
  void close() override;

 private:
  struct Slot {
    std::uint64_t token = 0;
    std::byte* destination = nullptr;
    std::uint32_t bytes = 0;
    const std::byte* staged = nullptr;  ///< where the blocks arrive; null: at the destination
  };

  const disk::DiskFile& file() const { return *engine_->files().front(); }
  bool goes_straight(const ReadRequest& read) const;
  Status check(const ReadRequest& read) const;
  disk::DiskRequest plan(const ReadRequest& read, std::uint32_t number);
  bool finish(const disk::DiskCompletion& from, Completion& to);

  const DiskEndpointOptions options_;
  const std::size_t stretch_;  ///< staging memory for each read
  HugeBuffer staging_;  ///< declared before the engine, which writes to it until it is closed
  std::unique_ptr<disk::DiskEngine> engine_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> empty_;  ///< tokens of reads of 0 bytes, which the disk does not see
  std::uint64_t device_reads_ = 0;
  std::uint64_t device_bytes_ = 0;
  // Scratch for post() and poll().
  std::vector<disk::DiskRequest> reads_;
  std::vector<disk::DiskCompletion> completions_;
};

}  // namespace farvec::transport
