#include "tiers/tier_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tiers/kinds.h"

namespace farvec::tiers {
namespace {

struct Kind {
  std::string_view word;
  std::string_view usage;  ///< for messages
  TierReader read;
};

/// Every tier there is.
constexpr Kind kKinds[] = {
    {"dram", "dram", read_dram},
    {"shm", "shm", read_shm},
    {"file", "file:PATH", read_file},
    {"devdax", "devdax:PATH", read_devdax},
    {"ssd", "ssd[:PATH]", read_ssd},
    {"verbs", "verbs:ADDRESS[,device=NAME][,gid=INDEX][,reads=BUDGET]", read_verbs},
    {"fabric", "fabric:PROVIDER:ADDRESS", read_fabric},
    {"emulated", "emulated:MODEL (rdma, cxl, nvm, ssd, or latency=5us,bandwidth=10GB/s,rate=50M/s)",
     read_emulated},
};

/// The kind whose word the text begins with; null when there is none.
const Kind* kind_of(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(":,"));
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [&](const Kind& kind) { return kind.word == word; });
  return found == std::end(kKinds) ? nullptr : found;
}

std::string usages() {
  std::string text;
  for (const Kind& kind : kKinds) {
    if (!text.empty()) text += &kind == std::end(kKinds) - 1 ? " or " : ", ";
    text += kind.usage;
  }
  return text;
}

}  // namespace

TierSpecPointer parse_tier(std::string_view text) {
  const Kind* const kind = kind_of(text);
  TierSpecPointer spec;
  if (kind != nullptr) spec = kind->read(text.substr(kind->word.size()));
  if (spec == nullptr) throw Error("no tier '{}': expected {}", text, usages());
  return spec;
}

std::vector<TierSpecPointer> parse_tiers(std::string_view text) {
  std::vector<std::string> names;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = rest.substr(0, comma);
    if (more) rest = rest.substr(comma + 1);
    const bool continues = !names.empty() && kind_of(part) == nullptr;
    if (continues) {
      names.back().append(",").append(part);
    } else {
      names.emplace_back(part);
    }
  }
  std::vector<TierSpecPointer> tiers;
  tiers.reserve(names.size());
  for (const std::string& name : names) tiers.push_back(parse_tier(name));
  return tiers;
}

}  // namespace farvec::tiers
