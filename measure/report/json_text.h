// Writes JSON as text for what the tool prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace farvec::measure {

/// Returns the text on one line, or with `spaces` spaces a level. A name of a file may hold bytes
/// that are no UTF-8, which JSON must not: they become U+FFFD, rather than ending a command whose
/// work is done.
template <class Json>
std::string json_text(const Json& json, int spaces = -1) {
  return json.dump(spaces, ' ', false, Json::error_handler_t::replace);
}

}  // namespace farvec::measure
