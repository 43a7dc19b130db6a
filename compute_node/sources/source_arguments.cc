#include "compute_node/sources/source_arguments.h"

#include <algorithm>
#include <string>

namespace farvec::compute_node {
namespace {

/// Returns "a, b or c".
std::string one_of(const std::vector<std::unique_ptr<SourceFlags>>& kinds) {
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) text += i + 1 < kinds.size() ? ", " : " or ";
    text += kinds[i]->usage();
  }
  return text;
}

}  // namespace

SourceArguments::SourceArguments() {
  kinds_.push_back(memory_node_flags());
  kinds_.push_back(directory_flags());
  kinds_.push_back(collection_flags());
  kinds_.push_back(paged_flags());
}

void SourceArguments::add(Command& app) {
  std::vector<Option> choices;
  for (const auto& kind : kinds_) {
    Option choice = kind->add(app);
    for (Option& other : choices) other.excludes(choice);
    choices.push_back(choice);
  }
  add_shared_flags(app, shared_);
}

void SourceArguments::require_one() const {
  const bool any =
      std::any_of(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind->chosen(); });
  if (!any) throw UsageError("{} is required", one_of(kinds_));
}

Source SourceArguments::read(const Command& app, RequestLimits& limits) const {
  for (const auto& kind : kinds_) kind->refuse_unused_flags(app);
  limits.default_partial = shared_.partial;
  const auto chosen =
      std::find_if(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind->chosen(); });
  return (*chosen)->read(app, shared_, limits);
}

}  // namespace farvec::compute_node
