#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/option_rules.h"
#include "compute_node/sources/source_flags.h"
#include "layout/index/index_directory.h"

namespace farvec::compute_node {
namespace {

class DirectoryFlags final : public SourceFlags {
 public:
  Option add(Command& app) override;
  const char* usage() const override { return "--index DIRECTORY"; }
  bool chosen() const override { return !path_.empty(); }
  void refuse_unused_flags(const Command&) const override {}
  Source read(const Command& app, const SharedArguments& shared,
              RequestLimits& limits) const override;

 private:
  std::string path_;
};

/// Refuses limits that searches of such an index do not have. The index of a memory node may be
/// followed by one of another kind, so that its limits are not checked.
void refuse_limits_of_other_kinds(const Command& app, const std::string& path,
                                  layout::IndexKind kind) {
  const bool graph = kind == layout::IndexKind::graph;
  const bool clusters = kind == layout::IndexKind::cluster;
  const std::string is = fmt::format("; '{}' is {}", path, in_words(kind));
  refuse_unused(app, std::vector<OptionRule>{{"--max-list", graph, "graphs" + is},
                                             {"--max-width", graph, "graphs" + is},
                                             {"--max-probe", clusters, "clusters" + is},
                                             {"--default-probe", clusters, "clusters" + is}});
}

/// Says which of the shared flags an index with this manifest takes on this tier.
SharedUse use_of(const std::string& path, const layout::Manifest& manifest,
                 const tiers::TierSpec& tier) {
  SharedUse use{.tier = SharedUse::kTaken, .cache = cache_use(tier)};
  if (!tier.traits().disk) {
    use.budget = "--tier ssd; --tier is " + tier.name();
    use.pages = use.budget;
    return use;
  }
  use.budget = SharedUse::kTaken;
  if (manifest.is_slotted()) {
    use.pages = SharedUse::kTaken;
    use.cache = "indexes without a pool, which --memory-budget bounds";
  } else {
    use.pages = fmt::format("slotted pages; '{}' is {}", path, manifest.layout_name());
  }
  return use;
}

Option DirectoryFlags::add(Command& app) {
  return app.add_option("--index", path_, "Open an index directory instead");
}

Source DirectoryFlags::read(const Command& app, const SharedArguments& shared,
                            RequestLimits& limits) const {
  DirectorySource source{.path = path_, .cache_bytes = shared.cache_bytes, .disk = shared.disk};
  if (!shared.tier.empty()) source.tier = shared.tier;
  const tiers::TierSpecPointer tier = tiers::parse_tier(source.tier);
  const layout::Manifest manifest = layout::IndexDirectory::open(path_).manifest();
  refuse_unused_shared(app, use_of(path_, manifest, *tier));
  refuse_limits_of_other_kinds(app, path_, manifest.kind());
  if (tier->traits().disk) {
    // More results than are ranked again cannot be asked for.
    const auto rerank = search::parse_disk_choice(source.disk, manifest).rerank.value_or(0);
    if (rerank > 0) limits.max_k = std::min(limits.max_k, rerank);
  }
  return source;
}

}  // namespace

std::unique_ptr<SourceFlags> directory_flags() {
  return std::make_unique<DirectoryFlags>();
}

}  // namespace farvec::compute_node
