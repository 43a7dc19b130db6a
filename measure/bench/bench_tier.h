// Opens a tier for `farvec bench transport`: endpoints of one region, without an index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "measure/bench/bench_report.h"
#include "tiers/tier.h"
#include "transport/emulated/device.h"

namespace farvec::measure {

/// Is memory of this process for reads. What its bytes are does not matter to a caller.
class BenchMemory final : public tiers::RecordMemory {
 public:
  explicit BenchMemory(std::uint64_t bytes) : bytes_(bytes) {}

  /// Maps all of the file or device.
  tiers::RegionSetPointer map(const std::string& path) const override;
  tiers::RegionSetPointer map_stored(const std::string& path) const override { return map(path); }

 private:
  std::uint64_t bytes() const override { return bytes_; }
  /// Writes to every page, because reads of pages that were never written all hit the one zero
  /// page.
  void load(std::span<std::byte> memory) const override;

  const std::uint64_t bytes_;
};

/// Holds one thread's endpoint, with the memory that it reads into. The endpoint is destroyed
/// first.
struct BenchLane {
  HugeBuffer destinations;
  std::unique_ptr<transport::Endpoint> endpoint;
};

/// Opens endpoints of region 0 of a memory node (the records of its index), of a file, or of
/// memory. The memory must outlive the tier.
class BenchTier {
 public:
  /// The context has no index. Throws Error when the tier cannot be opened.
  BenchTier(tiers::TierSpecPointer spec, const tiers::TierContext& context);

  /// Makes lanes(), each with `destination_bytes` of registered destinations.
  void open_lanes(std::uint32_t count, std::size_t destination_bytes);
  std::vector<BenchLane>& lanes() { return lanes_; }

  /// Returns an endpoint for questions about limits and sizes, with which no reads are done.
  const transport::Endpoint& probe() const { return *probe_; }
  std::string name() const { return spec_->name(); }
  /// Returns how many reads a second of such a load a modelled device serves for point.threads
  /// threads, when nothing else limits them; 0 when the tier is no modelled device.
  double device_bound_per_s(const BenchPoint& point) const;
  /// While the result lives, only `reading` of the lanes have a part of a modelled device: the
  /// others, and probe(), have none.
  transport::IdleReaders idle_but(std::uint32_t reading) const;
  /// Returns true when tuning() changes anything.
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
