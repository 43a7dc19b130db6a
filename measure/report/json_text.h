// JSON as the tool prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace farvec::measure {

/// On one line, or with so many spaces a level. A name of a file may hold bytes that are no UTF-8,
/// which JSON must not: they become U+FFFD, rather than ending a command whose work is done.
template <class Json>
std::string json_text(const Json& json, int spaces = -1) {
  return json.dump(spaces, ' ', false, Json::error_handler_t::replace);
}

}  // namespace farvec::measure
