// A FullDisk is the Error of a disk, or of a quota, that has no room for what was to be written.
#pragma once

#include <exception>
#include <utility>

#include "base/error.h"

namespace farvec {

/// A FullDisk is an Error that passes when there is room.
class FullDisk : public Error {
 public:
  template <typename... Args>
  explicit FullDisk(fmt::format_string<Args...> format, Args&&... args)
      : Error(format, std::forward<Args>(args)...) {}
};

/// Says whether errno says that a disk or a quota is full, or that a file may not be so large.
bool is_full_disk(int errno_value);

/// Says the same of what was thrown: a FullDisk, or a SystemError with such an errno.
bool is_full_disk(const std::exception& error);

}  // namespace farvec
