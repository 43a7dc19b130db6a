#include "base/option_rules.h"

#include "base/command_line.h"
#include "base/error.h"

namespace farvec {

void add_rules(std::span<const char* const> options, bool fits, const std::string& where,
               std::vector<OptionRule>& rules) {
  for (const char* const option : options) rules.push_back({option, fits, where});
}

void refuse_unused(const Command& app, std::span<const OptionRule> rules) {
  for (const OptionRule& rule : rules) {
    if (rule.fits || !app.was_given(rule.option)) continue;
    throw Error("{} is for {}: leave it out", rule.option, rule.where);
  }
}

}  // namespace farvec
