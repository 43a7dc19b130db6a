#include "tiers/tier_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tiers/kinds.h"

namespace farvec::tiers {
namespace {

struct Kind {
  std::string_view word;
  TierReader read;
  std::string_view usage;
  std::string_view remark;  ///< on the usage, for help texts; empty: none is needed
  /// the usage over memory nodes that are attached; empty: the tier does not open over them
  std::string_view over_nodes;
  bool here = true;   ///< an index of this machine is searched there without memory nodes
  bool bench = true;  ///< its reads can be measured without an index
};

constexpr std::string_view kModels =
    "MODEL: rdma, cxl, nvm, ssd or latency=5us,bandwidth=10GB/s,rate=50M/s; with cores=N each core "
    "has an N-th of it";

/// Every tier there is.
constexpr Kind kKinds[] = {
    {"dram", read_dram, "dram", "", ""},
    {"shm", read_shm, "shm", "", "shm"},
    {"numa", read_numa, "numa:NODE", "memory of one NUMA node", ""},
    {"file", read_file, "file:PATH", "", ""},
    {"devdax", read_devdax, "devdax:PATH", "", ""},
    {"pmem", read_pmem, "pmem:PATH", "devdax and pmem: where 'farvec devices load' put it", ""},
    {.word = "ssd",
     .read = read_ssd,
     .usage = "ssd[:PATH][,model=DISK[,cores=N]]",
     .remark = "PATH is where the records lie if not with the index: a file, a\n"
               "directory or a block device. With DISK requests end when that modelled disk says",
     .over_nodes = "",
     .bench = false},
    {.word = "verbs",
     .read = read_verbs,
     .usage = "verbs:ADDRESS[,device=NAME][,gid=INDEX][,reads=BUDGET]",
     .remark = "RDMA reads from a memory\nnode, at most BUDGET outstanding over all cores",
     .over_nodes = "verbs[,device=NAME][,gid=INDEX][,reads=BUDGET]",
     .here = false},
    {.word = "fabric",
     .read = read_fabric,
     .usage = "fabric:PROVIDER:ADDRESS",
     .remark = "libfabric's tcp, verbs;ofi_rxm, shm, efa",
     .over_nodes = "fabric:PROVIDER",
     .here = false},
    {"emulated", read_emulated, "emulated:MODEL", kModels, "emulated:MODEL"},
};

/// Returns the kind whose word the text begins with; null when there is none.
const Kind* kind_of(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(":,"));
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [&](const Kind& kind) { return kind.word == word; });
  return found == std::end(kKinds) ? nullptr : found;
}

/// Returns an empty text when the tier does not fit the use.
std::string_view usage_of(const Kind& kind, TierUse use) {
  if (use == TierUse::over_nodes) return kind.over_nodes;
  const bool fits = use == TierUse::search || (use == TierUse::bench ? kind.bench : kind.here);
  return fits ? kind.usage : "";
}

std::vector<const Kind*> kinds_of(TierUse use) {
  std::vector<const Kind*> kinds;
  for (const Kind& kind : kKinds) {
    if (!usage_of(kind, use).empty()) kinds.push_back(&kind);
  }
  return kinds;
}

}  // namespace

std::string tier_usage(TierUse use) {
  std::string text;
  const auto kinds = kinds_of(use);
  for (const Kind* kind : kinds) {
    if (!text.empty()) text += kind == kinds.back() ? " or " : ", ";
    text += usage_of(*kind, use);
  }
  return text;
}

std::string tier_help(TierUse use) {
  std::string text;
  bool line_ended = true;
  for (const Kind* kind : kinds_of(use)) {
    if (!text.empty()) text += line_ended || !kind->remark.empty() ? ",\n" : ", ";
    text += usage_of(*kind, use);
    line_ended = !kind->remark.empty();
    if (line_ended) text += fmt::format(" ({})", kind->remark);
  }
  return text;
}

TierSpecPointer parse_tier(std::string_view text) {
  const Kind* const kind = kind_of(text);
  TierSpecPointer spec;
  if (kind != nullptr) spec = kind->read(text.substr(kind->word.size()));
  if (spec == nullptr) {
    throw Error("no tier '{}': expected {} ({})", text, tier_usage(TierUse::search), kModels);
  }
  return spec;
}

TierSpecPointer parse_node_tier(std::string_view text) {
  TierSpecPointer spec = parse_tier(text);
  if (spec->traits().over_nodes && (spec->is_remote() || spec->name() == "shm")) return spec;
  throw Error("'{}': these memory nodes are reached over shm, fabric:PROVIDER or verbs", text);
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
