// A file or block device as an endpoint, for the loads that measure endpoints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ssd_baseline/io/disk_engine.h"
#include "transport/endpoint.h"

namespace farvec::cli {

/// Region 0 is the engine's first file. A read begins at a multiple of its blocks and brings whole
/// blocks: its destination has room for them. Tokens are below 2^32. Destinations that the disk
/// keeps beyond a read's deadline come back with close(). Thread as the engine's.
class DiskEndpoint final : public transport::Endpoint {
 public:
  explicit DiskEndpoint(std::unique_ptr<ssd_baseline::DiskEngine> engine)
      : engine_(std::move(engine)) {}

  void register_memory(std::span<std::byte> memory) override { engine_->register_memory(memory); }
  Status post(std::span<const transport::ReadRequest> reads) override;
  std::size_t poll(std::span<transport::Completion> completions) override;
  transport::EndpointLimits limits() const override {
    return {engine_->max_outstanding(), ssd_baseline::kMaxDiskReadBytes};
  }
  std::uint64_t region_bytes(transport::RegionId region) const override {
    return region == 0 ? engine_->files().front()->size() : 0;
  }
  std::string description() const override { return engine_->description(); }
  void close() override { engine_->close(); }

 private:
  std::unique_ptr<ssd_baseline::DiskEngine> engine_;
  std::vector<ssd_baseline::DiskRead> reads_;              ///< scratch of post()
  std::vector<ssd_baseline::DiskCompletion> completions_;  ///< scratch of poll()
};

}  // namespace farvec::cli
