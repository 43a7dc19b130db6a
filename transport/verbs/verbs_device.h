// VerbsDevice says which RDMA device of this machine to read through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace farvec::transport {

/// Says which of this machine's RDMA devices to read through, and how much of it. Without a name it
/// is the one on the route.
struct VerbsDevice {
  std::string name;                        ///< "mlx5_0", "rxe0"
  std::optional<std::uint32_t> gid_index;  ///< index in the device's table
  /// The most reads that all cores of this process together have outstanding over it; 0: what its
  /// queue pairs take.
  std::uint32_t read_budget = 0;

  bool chosen() const { return !name.empty() || gid_index.has_value(); }
};

}  // namespace farvec::transport
