// Who uses a device, told to other processes by locks on its descriptor.
#pragma once

#include <cstdint>

namespace farvec::device {

/// Open-file-description locks: they belong to the descriptor, so that two of one process keep each
/// other out too, and they end with it, however its process ends. They are known to this machine
/// alone. None of these waits.
class DeviceLocks {
 public:
  /// `descriptor` is borrowed.
  explicit DeviceLocks(int descriptor) : descriptor_(descriptor) {}

  /// The one who changes the directory. False: somebody else is.
  bool take_writer();
  /// Readers of a slot share it. False: it is being freed.
  bool take_reader(std::uint32_t slot);
  /// Nobody else reads the slot, and nobody can begin to. False: somebody does.
  bool take_sole(std::uint32_t slot);
  void give_back(std::uint32_t slot);

 private:
  bool set(short type, std::uint64_t first) const;

  int descriptor_;
};

}  // namespace farvec::device
