#include "base/said_by.h"

#include <fmt/format.h>

#include <filesystem>

namespace farvec {

std::string said_by(const std::exception& error) {
  const auto* const refused = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (refused == nullptr) return error.what();
  std::string reason = refused->code().message();
  if (refused->path1().empty()) return reason;
  return fmt::format("'{}': {} (errno {})", refused->path1().string(), reason,
                     refused->code().value());
}

}  // namespace farvec
