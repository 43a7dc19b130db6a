// What an exception says, for people.
#pragma once

#include <exception>
#include <string>

namespace farvec {

/// Its message. What the file system refuses is told by the path and the reason, without the name
/// of the C++ function that asked.
std::string said_by(const std::exception& error);

}  // namespace farvec
