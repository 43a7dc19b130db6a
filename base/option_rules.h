// Refuses options that mean nothing where they were given, in the same way in every program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/command_line.h"

namespace farvec {

struct OptionRule {
  const char* option;  ///< "--probe"
  bool fits;           ///< whether it means something here
  std::string where;   ///< where it does, and what this is: "cluster indexes; 'a' is a graph"
};

/// Adds the same rule for each of the options, whose names must outlive the rules.
void add_rules(std::span<const char* const> options, bool fits, const std::string& where,
               std::vector<OptionRule>& rules);

/// Throws Error naming the first option that was given and does not fit. Options that `app` does
/// not have are skipped.
void refuse_unused(const Command& app, std::span<const OptionRule> rules);

}  // namespace farvec
