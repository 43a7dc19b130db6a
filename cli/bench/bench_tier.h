// A tier as `farvec bench transport` sees it: endpoints of one region, without an index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cli/tier_memory.h"
#include "tiers/attach/attachment.h"
#include "transport/emulated/device.h"
#include "transport/mapped/mapped_endpoint.h"
#include "transport/tier.h"

namespace farvec::cli {

/// Memory of this process, made when a tier first asks for it and shared by all that do.
class BenchMemory {
 public:
  explicit BenchMemory(std::uint64_t bytes) : bytes_(bytes) {}

  std::shared_ptr<const transport::RegionSet> dram();
  std::shared_ptr<const transport::RegionSet> shared();

 private:
  const std::uint64_t bytes_;
  HugeBuffer buffer_;
  std::shared_ptr<const transport::RegionSet> dram_;  ///< a view of buffer_
  std::shared_ptr<const transport::RegionSet> shared_;
};

/// One thread's endpoint, with the memory that it reads into. Destroyed endpoint first.
struct BenchLane {
  HugeBuffer destinations;
  std::unique_ptr<transport::Endpoint> endpoint;
};

struct BenchTierOptions {
  transport::TierSpec spec;
  transport::VerbsTuning tuning;  ///< of verbs
  RemoteAccess access;
};

/// Region 0 of a memory node (the records of its index), of a file, or of `memory`, which must
/// outlive the tier.
class BenchTier {
 public:
  /// Throws Error when the tier cannot be opened.
  BenchTier(BenchTierOptions options, BenchMemory& memory);

  /// There are lanes() from then on, each with so many bytes of registered destinations.
  void open_lanes(std::uint32_t count, std::size_t destination_bytes);
  std::vector<BenchLane>& lanes() { return lanes_; }

  /// For questions about limits and sizes; nobody reads with it.
  const transport::Endpoint& probe() const { return *probe_; }
  std::string name() const { return transport::to_string(options_.spec); }
  transport::TierKind kind() const { return options_.spec.kind; }
  const transport::VerbsTuning& tuning() const { return options_.tuning; }

 private:
  std::unique_ptr<transport::Endpoint> make_endpoint() const;

  const BenchTierOptions options_;
  std::shared_ptr<const transport::RegionSet> mapped_;    ///< null when a memory node has them
  std::string model_;                                     ///< of mapped_
  std::shared_ptr<transport::Device> device_;             ///< of emulated
  std::unique_ptr<tiers::Attachment> attachment_;  ///< of verbs and fabric
  std::unique_ptr<transport::Endpoint> probe_;
  std::vector<BenchLane> lanes_;
};

}  // namespace farvec::cli
