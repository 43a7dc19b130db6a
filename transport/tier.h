// Names of tiers as a command line gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/emulated/device_model.h"

namespace farvec::transport {

enum class TierKind { dram, shm, file, devdax, emulated, verbs, fabric, ssd };

/// Which of this machine's RDMA devices to read through, and how much of it. Nothing said: the one
/// on the route.
struct VerbsDevice {
  std::string name;                        ///< "mlx5_0", "rxe0"
  std::optional<std::uint32_t> gid_index;  ///< in the device's table
  /// Reads that the cores of this process may have outstanding over it together; 0: what its queue
  /// pairs take.
  std::uint32_t read_budget = 0;

  bool chosen() const { return !name.empty() || gid_index.has_value(); }
};

struct TierSpec {
  TierKind kind = TierKind::dram;
  /// The path of file, devdax and ssd; that of ssd may be empty. For verbs and fabric the addresses
  /// of the memory nodes' control planes, separated by commas, or empty.
  std::string path;
  std::string provider;  ///< of fabric, libfabric's word: "tcp", "verbs;ofi_rxm"
  VerbsDevice device;    ///< of verbs
  DeviceModel model;     ///< of emulated
};

/// Whether the bytes belong to a memory node and come through a device (verbs, fabric), not by
/// loads from a mapping.
bool is_remote(TierKind kind);

/// Whether records are read in place, by loads that a record cache could save nothing of: memory
/// of this machine, and models of devices that loads reach.
bool reached_by_loads(const TierSpec& tier);

/// "dram", "shm", "file:PATH", "devdax:PATH", "emulated:MODEL" with MODEL as parse_device_model()
/// takes it, "verbs:ADDRESS" and "fabric:PROVIDER:ADDRESS" of a memory node (a compute node, which
/// knows it, takes "verbs" and "fabric:PROVIDER"). Behind verbs may stand ",device=NAME",
/// ",gid=INDEX" and ",reads=BUDGET", of this machine's RDMA devices. "ssd" reads the index's own
/// records file, "ssd:PATH" a copy of it, one in that directory, or a block device with its bytes.
/// Throws Error naming what is accepted.
TierSpec parse_tier(std::string_view text);

/// Tiers separated by commas. A part that does not begin with a tier's word belongs to the tier
/// before it: "verbs:a:7700,b:7700,emulated:latency=5us,bandwidth=10GB/s,rate=50M/s,shm" are three.
std::vector<TierSpec> parse_tiers(std::string_view text);

/// About how many bytes the tier brings in the time that one more request takes: a gap of fewer
/// bytes between two reads is cheaper to read than to leave out. 0 where reads are loads.
std::uint32_t bytes_per_request(const TierSpec& tier);

/// The word before the colon.
std::string_view to_string(TierKind kind);
/// What parse_tier() takes, a preset by its name: "dram", "emulated:rdma".
std::string to_string(const TierSpec& tier);

}  // namespace farvec::transport
