#include "base/full_disk.h"

#include <cerrno>

namespace farvec {

bool is_full_disk(int errno_value) {
  return errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
}

bool is_full_disk(const std::exception& error) {
  if (dynamic_cast<const FullDisk*>(&error) != nullptr) return true;
  const auto* const system = dynamic_cast<const SystemError*>(&error);
  return system != nullptr && is_full_disk(system->code);
}

}  // namespace farvec
