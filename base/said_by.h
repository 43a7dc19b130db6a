// Says an exception's message in words for people.
#pragma once

#include <exception>
#include <string>

namespace farvec {

/// Returns the message of the exception. An error of the file system is told with the path and the
/// reason, without the name of the C++ function that failed.
std::string said_by(const std::exception& error);

}  // namespace farvec
