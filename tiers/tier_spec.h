// A TierSpec is a tier that a command line names. These functions read such names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tiers/attach/read_paths.h"
#include "transport/emulated/device.h"
#include "transport/emulated/device_model.h"

namespace farvec::tiers {

class Tier;
struct TierContext;

/// What commands and searches have to know of a tier before it is opened.
struct TierTraits {
  bool loads = false;  ///< records are read in place, so that a record cache could save nothing
  bool dram = false;   ///< in memory of this process alone: they count in a budget of its memory
  bool disk = false;   ///< slotted pages can be searched there, under a budget of memory
  bool own_memory = false;   ///< in a bench, this process makes the memory that is read
  bool over_nodes = false;   ///< opens over memory nodes that are attached already
  bool spans_nodes = false;  ///< names several memory nodes
  /// About how many bytes the tier brings in the time that one more request takes: a gap of fewer
  /// bytes between two reads is cheaper to read than to leave out. 0 where reads are loads.
  std::uint32_t bytes_per_request = 0;
};

/// A TierSpec is one tier that was named. It is immutable.
class TierSpec {
 public:
  virtual ~TierSpec() = default;

  /// The text that parse_tier() takes; a preset has its name: "dram", "emulated:rdma".
  virtual std::string name() const = 0;
  virtual TierTraits traits() const = 0;
  /// Returns how memory nodes are to be read.
  virtual ReadPath read_path() const { return {}; }
  /// Says whether the bytes belong to a memory node and come through a device, not by loads from a
  /// mapping.
  bool is_remote() const { return read_path().kind != ReadPathKind::mapped; }
  /// Makes a modelled device that several indexes share (TierContext::device); null where nothing
  /// is modelled.
  virtual std::shared_ptr<transport::Device> make_device() const { return nullptr; }
  /// Opens the tier; only Tier::open() calls it. Throws Error when the tier cannot be opened.
  virtual std::unique_ptr<Tier> open(const TierContext& context) const = 0;
};

using TierSpecPointer = std::shared_ptr<const TierSpec>;

/// Reads "dram", "shm", "numa:NODE", "file:PATH", "devdax:PATH", "pmem:PATH", "emulated:MODEL"
/// (MODEL is what transport::parse_device_model() takes), "verbs:ADDRESS" or
/// "fabric:PROVIDER:ADDRESS". ADDRESS is that of a memory node; a compute node, which knows it,
/// takes "verbs" and "fabric:PROVIDER". "verbs" may be followed by ",device=NAME", ",gid=INDEX" and
/// ",reads=BUDGET", which are for this machine's RDMA devices. "ssd" reads the index's own records
/// file, "ssd:PATH" a copy of it, one in that directory, or a block device with its bytes. Throws
/// Error naming what is accepted.
TierSpecPointer parse_tier(std::string_view text);

/// Reads tiers separated by commas. A part that does not begin with a tier's word belongs to the
/// tier before it: "verbs:a:7700,b:7700,emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,shm" are
/// three.
std::vector<TierSpecPointer> parse_tiers(std::string_view text);

/// Reads how memory nodes that are named otherwise are read or written: "shm" (mapped: on the
/// node's own machine), "fabric:PROVIDER", "verbs[,device=NAME][,gid=INDEX]". Throws Error for
/// every other word.
TierSpecPointer parse_node_tier(std::string_view text);

/// What a tier is named for. `search`: everything; `here`: an index of this machine, without memory
/// nodes; `over_nodes`: memory nodes that are named otherwise; `bench`: reads alone.
enum class TierUse : std::uint8_t { search = 0, here = 1, over_nodes = 2, bench = 3 };

/// Returns "dram, shm or emulated:MODEL", for messages.
std::string tier_usage(TierUse use);
/// Returns the same with remarks, in lines, for the help of an option.
std::string tier_help(TierUse use);

/// Returns "emulated:..." with a model that no command line gave.
TierSpecPointer emulated_tier(const transport::DeviceModel& model);

}  // namespace farvec::tiers
