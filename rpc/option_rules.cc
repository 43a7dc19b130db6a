#include "rpc/option_rules.h"

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace farvec::rpc {

void refuse_unused(const CLI::App& app, std::span<const OptionRule> rules) {
  for (const OptionRule& rule : rules) {
    if (rule.fits) continue;
    const CLI::Option* option = app.get_option_no_throw(rule.option);
    if (option == nullptr || option->count() == 0) continue;
    throw Error("{} is for {}: leave it out", rule.option, rule.where);
  }
}

}  // namespace farvec::rpc
