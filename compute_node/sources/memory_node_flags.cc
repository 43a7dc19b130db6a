#include <vector>

#include "base/option_rules.h"
#include "compute_node/sources/source_flags.h"
#include "layout/index/index_directory.h"
#include "rpc/address.h"

namespace farvec::compute_node {
namespace {

class MemoryNodeFlags final : public SourceFlags {
 public:
  Option add(Command& app) override;
  const char* usage() const override { return "--memory-node ADDRESS"; }
  bool chosen() const override { return !source_.nodes.empty(); }
  void refuse_unused_flags(const Command& app) const override;
  Source read(const Command& app, const SharedArguments& shared,
              RequestLimits& limits) const override;

 private:
  MemoryNodeSource source_;
};

void add_regroup_flags(Command& app, RegroupOptions& regroup) {
  app.add_option("--regroup", regroup.index,
                 "With one --memory-node that serves clusters: the directory of the index, as this "
                 "process and the memory node see it. Where other groups would save enough of the "
                 "requests that were counted, the index is written again beside it, as "
                 "DIRECTORY.regrouped-N, and published: every compute node goes over to it");
  app.add_option("--regroup-gain", regroup.least_gain,
                 "With --regroup: the share of requests that is enough")
      .range(0.001, 1.0)
      .show_default();
  app.add_option("--regroup-seconds", regroup.every_seconds, "With --regroup: between two looks")
      .range(0.01, 1e6)
      .show_default();
  app.add_option("--regroup-with", regroup.beside,
                 "With --regroup: other compute nodes that serve the index, separated by commas, "
                 "whose probes count too. One node of all regroups");
}

void check_regroup(const MemoryNodeSource& source) {
  if (source.regroup.index.empty()) return;
  if (rpc::parse_addresses(source.nodes).size() > 1) {
    throw Error(
        "--regroup: an index that is placed over several memory nodes is not written "
        "again; use `farvec regroup`, `farvec place` and `farvec publish`");
  }
  const layout::Manifest manifest = layout::IndexDirectory::open(source.regroup.index).manifest();
  if (!manifest.is_cluster()) {
    throw Error("--regroup {}: clusters are grouped, and this is {}", source.regroup.index,
                in_words(manifest.kind()));
  }
}

Option MemoryNodeFlags::add(Command& app) {
  const Option choice =
      app.add_option("--memory-node", source_.nodes,
                     "Attach to the memory node at HOST:PORT or unix:PATH; to several with commas, "
                     "when the index is placed over them ('farvec place')");
  add_regroup_flags(app, source_.regroup);
  return choice;
}

void MemoryNodeFlags::refuse_unused_flags(const Command& app) const {
  const bool regroups = !source_.regroup.index.empty();
  refuse_unused(app, std::vector<OptionRule>{{"--regroup", chosen(), "--memory-node"},
                                             {"--regroup-gain", regroups, "--regroup"},
                                             {"--regroup-seconds", regroups, "--regroup"},
                                             {"--regroup-with", regroups, "--regroup"}});
}

Source MemoryNodeFlags::read(const Command& app, const SharedArguments& shared,
                             RequestLimits&) const {
  MemoryNodeSource source = source_;
  if (!shared.tier.empty()) source.tier = shared.tier;
  source.cache_bytes = shared.cache_bytes;
  source.node_timeout = shared.node_timeout;
  source.partial = shared.partial;
  refuse_unused_shared(app, {.tier = SharedUse::kTaken,
                             .cache = cache_use(*tiers::parse_tier(source.tier)),
                             .nodes = SharedUse::kTaken});
  check_regroup(source);
  return source;
}

}  // namespace

std::unique_ptr<SourceFlags> memory_node_flags() {
  return std::make_unique<MemoryNodeFlags>();
}

}  // namespace farvec::compute_node
