#include "wal/durability_option.h"

#include <string_view>

#include "base/error.h"
#include "base/quantity.h"

namespace farvec::wal {

std::string durability_help(const std::string& ends) {
  return "When a change is acknowledged: commit (it is on the disk), interval:MS (it will\n"
         "be within MS milliseconds), none (when " +
         ends + ")";
}

void parse_durability(const std::string& text, LogOptions& log) {
  constexpr std::string_view kInterval = "interval:";
  if (text == "commit") {
    log.durability = Durability::commit;
  } else if (text == "none") {
    log.durability = Durability::none;
  } else if (text.starts_with(kInterval)) {
    log.durability = Durability::interval;
    const auto ms = parse_number(std::string_view(text).substr(kInterval.size()), "--durability");
    if (ms == 0) throw Error("--durability interval:0 is no time: use commit");
    log.interval_us = 1e3 * static_cast<double>(ms);
  } else {
    throw Error("--durability: '{}' is none of commit, interval:MS, none", text);
  }
}

}  // namespace farvec::wal
