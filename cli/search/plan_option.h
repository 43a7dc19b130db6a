// This header adds --plan to the commands that search among rows that meet a condition.
#pragma once

#include <string>

#include "base/command_line.h"

namespace farvec::cli {

/// `plan` is for search::parse_filter_plan().
inline void add_plan_option(Command& command, std::string& plan) {
  command
      .add_option("--plan", plan,
                  "How a graph is searched among the rows that meet --filter: walk, scan (they "
                  "are\ncompared one by one), or chosen, whichever takes less; for measurements")
      .show_default();
}

}  // namespace farvec::cli
