// A MappedEndpoint is the endpoint of memory that loads reach: shared memory, CXL, persistent
// memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "transport/endpoint.h"
#include "transport/mapped/mapped_region.h"
#include "transport/ring.h"

namespace farvec::transport {

/// RegionId i is element i. The endpoints of all cores share it.
using RegionSet = std::vector<MappedRegion>;

struct MappedOptions {
  std::string name = "shm";  ///< for description()
  std::uint32_t max_outstanding = 1024;
  std::uint32_t max_read_bytes = 1u << 30;
  /// Completions say where the bytes are instead of copying them, and one completion is for a whole
  /// post() of one region with ascending tokens. For use below a modelled device: a real one writes
  /// into memory without the processor, and signals the last read of a chain.
  bool by_reference = false;
};

/// post() prefetches the first lines of each read; poll() copies and completes them in order.
class alignas(kCacheLineBytes) MappedEndpoint final : public Endpoint {
 public:
  explicit MappedEndpoint(std::shared_ptr<const RegionSet> regions, MappedOptions options = {});

  Status post(std::span<const ReadRequest> reads) override;
  std::size_t poll(std::span<Completion> completions) override;
  EndpointLimits limits() const override { return limits_; }
  std::uint64_t region_bytes(RegionId region) const override { return region_of(region).size(); }
  std::string description() const override { return name_; }
  void close() override;

 private:
  /// An Outstanding is one read, or several reads by reference with ascending tokens.
  struct Outstanding {
    std::uint64_t token = 0;
    const std::byte* region = nullptr;
    const std::byte* data = nullptr;
    std::byte* destination = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t reads = 1;
  };

  /// Is empty when there is no such region.
  std::span<const std::byte> region_of(RegionId region) const {
    return region < regions_.size() ? regions_[region].bytes() : std::span<const std::byte>();
  }

  const EndpointLimits limits_;
  std::size_t outstanding_reads_ = 0;
  bool closed_ = false;
  const bool by_reference_;
  const std::span<const MappedRegion> regions_;
  Ring<Outstanding> outstanding_;
  const std::shared_ptr<const RegionSet> owned_;  ///< the regions
  const std::string name_;
};

}  // namespace farvec::transport
