// DeviceLocks tells other processes how a device is in use, by locks on its descriptor.
#pragma once

#include <cstdint>

namespace farvec::device {

/// They are open-file-description locks. They belong to the descriptor, so that two descriptors of
/// one process keep each other out too, and they end with it, however its process ends. Only this
/// machine knows them. No member waits.
class DeviceLocks {
 public:
  /// `descriptor` is borrowed.
  explicit DeviceLocks(int descriptor) : descriptor_(descriptor) {}

  /// Takes the lock of the writer, which changes the directory. False: another one has it.
  bool take_writer();
  /// Takes a lock that readers of a slot share. False: the slot is being freed.
  bool take_reader(std::uint32_t slot);
  /// Makes sure that nothing else reads the slot, and that no reader can begin. False: there is a
  /// reader.
  bool take_sole(std::uint32_t slot);
  void give_back(std::uint32_t slot);

 private:
  bool set(short type, std::uint64_t first) const;

  int descriptor_;
};

}  // namespace farvec::device
