// A tier as `farvec bench transport` sees it: endpoints of one region, without an index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "measure/bench/bench_report.h"
#include "tiers/tier.h"
#include "transport/emulated/device.h"

namespace farvec::measure {

/// Memory of this process with bytes that nobody reads for what they are.
class BenchMemory final : public tiers::RecordMemory {
 public:
  explicit BenchMemory(std::uint64_t bytes) : bytes_(bytes) {}

  tiers::RegionSetPointer dram() override;
  tiers::RegionSetPointer shared() override;
  tiers::RegionSetPointer on_node(std::uint32_t node) override;
  /// All of the file or device.
  tiers::RegionSetPointer map(const std::string& path) const override;
  tiers::RegionSetPointer map_stored(const std::string& path) const override { return map(path); }

 private:
  const std::uint64_t bytes_;
  HugeBuffer buffer_;
  tiers::RegionSetPointer dram_;  ///< a view of buffer_
  tiers::RegionSetPointer shared_;
};

/// One thread's endpoint, with the memory that it reads into. Destroyed endpoint first.
struct BenchLane {
  HugeBuffer destinations;
  std::unique_ptr<transport::Endpoint> endpoint;
};

/// Region 0 of a memory node (the records of its index), of a file, or of memory, which must
/// outlive the tier.
class BenchTier {
 public:
  /// The context has no index. Throws Error when the tier cannot be opened.
  BenchTier(tiers::TierSpecPointer spec, const tiers::TierContext& context);

  /// There are lanes() from then on, each with so many bytes of registered destinations.
  void open_lanes(std::uint32_t count, std::size_t destination_bytes);
  std::vector<BenchLane>& lanes() { return lanes_; }

  /// For questions about limits and sizes; nobody reads with it.
  const transport::Endpoint& probe() const { return *probe_; }
  std::string name() const { return spec_->name(); }
  /// Reads a second of such a load that a modelled device brings to so many threads, when nothing
  /// else is in the way; 0: it is none.
  double device_bound_per_s(const BenchPoint& point) const;
  /// For the time that so many of the lanes read: the others, and probe(), have no part of a
  /// modelled device.
  transport::IdleReaders idle_but(std::uint32_t reading) const;
  /// Whether tuning() changes anything.
  bool is_tuned() const { return spec_->read_path().kind == tiers::ReadPathKind::verbs; }
  const transport::VerbsTuning& tuning() const { return tuning_; }

 private:
  const tiers::TierSpecPointer spec_;
  const transport::VerbsTuning tuning_;
  const std::unique_ptr<const tiers::Tier> tier_;
  const std::unique_ptr<transport::Endpoint> probe_;
  std::vector<BenchLane> lanes_;
};

}  // namespace farvec::measure
