#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/option_rules.h"
#include "compute_node/sources/source_flags.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::compute_node {
namespace {

class CollectionFlags final : public SourceFlags {
 public:
  Option add(Command& app) override;
  const char* usage() const override { return "--collection DIRECTORY"; }
  bool chosen() const override { return !name_.empty(); }
  void refuse_unused_flags(const Command& app) const override;
  Source read(const Command& app, const SharedArguments& shared,
              RequestLimits& limits) const override;

 private:
  void check_name() const;

  std::string name_;
  std::string second_tier_;
  bool follow_ = false;
  collection::NodeArguments nodes_;
  BackgroundOptions background_;
};

void add_background_flags(Command& app, BackgroundOptions& background) {
  app.add_option("--build-threads", background.build_threads, "Threads that build segments")
      .range(1u, 1024u)
      .show_default();
  app.add_option("--merge-threads", background.merge_threads,
                 "Threads that merge segments, beside those; 0: one per processor")
      .range(0u, 1024u)
      .show_default();
  app.add_option("--followers", background.followers,
                 "Compute nodes that follow the collection, separated by commas: when segments of "
                 "clusters are merged, vectors are grouped by what these nodes have probed, and by "
                 "what this one has. One that does not answer is left out");
  app.add_option("--merge-bytes-per-second", background.merge_bytes_per_s,
                 "Bytes that merges read and write together, from and to the disk; 0: as many as "
                 "they can")
      .size()
      .show_default();
}

Option CollectionFlags::add(Command& app) {
  const Option choice =
      app.add_option("--collection", name_,
                     "Open a collection for changes instead ('farvec collection create'): its "
                     "folder, or with --follow, --log-nodes and --segment-nodes nodes:NAME, which "
                     "is found on these nodes alone; NAME is what its folder is called where it is "
                     "changed, or its number on the nodes, and may be left out where they have one "
                     "collection");
  app.add_flag("--follow", follow_,
               "With --collection: another process changes it; what that does is searched within "
               "milliseconds");
  app.add_option(
      "--second-tier", second_tier_,
      "With --collection of segments with fewer bits than their rows ('farvec collection "
      "create --store'): where their second copies are read from, as --tier [--tier]");
  collection::add_node_options(app, nodes_, "With --collection: ");
  collection::add_copies_options(app, nodes_);
  add_background_flags(app, background_);
  return choice;
}

void CollectionFlags::refuse_unused_flags(const Command& app) const {
  std::vector<OptionRule> rules;
  for (const char* option :
       {"--build-threads", "--merge-threads", "--followers", "--merge-bytes-per-second"}) {
    rules.push_back({option, chosen() && !follow_, "--collection without --follow"});
  }
  for (const char* option : {"--follow", "--second-tier", "--log-nodes", "--segment-nodes"}) {
    rules.push_back({option, chosen(), "--collection"});
  }
  rules.push_back(
      {"--log-copies", !nodes_.log.empty() && !follow_, "--log-nodes without --follow"});
  rules.push_back({"--segment-copies", !nodes_.segments.empty() && !follow_,
                   "--segment-nodes without --follow"});
  refuse_unused(app, rules);
  collection::refuse_unused_node_options(app, nodes_);
}

void CollectionFlags::check_name() const {
  const bool on_nodes = follow_ && !nodes_.segments.empty() && !nodes_.log.empty();
  if (!collection::nodes_name(name_) || on_nodes) return;
  throw Error(
      "--collection {}: a collection on memory nodes is followed (--follow, --log-nodes and "
      "--segment-nodes); a writer names its folder",
      name_);
}

/// Returns the options of a collection in a folder, and the usual ones of others. A folder that
/// cannot be read is told of when it is opened.
layout::CollectionOptions options_of(const std::string& name) {
  if (collection::nodes_name(name)) return {};
  try {
    return layout::read_collection(name).options;
  } catch (const Error&) {
    return {};
  }
}

/// Says which of the shared flags a collection takes.
SharedUse use_of(bool segments_on_nodes, bool followed, bool pages) {
  SharedUse use;
  if (pages) use.budget = use.pages = SharedUse::kTaken;
  if (segments_on_nodes) {
    use.tier = "sources other than --segment-nodes (--segment-tier)";
    use.nodes = SharedUse::kTaken;
  } else {
    use.tier = SharedUse::kTaken;
  }
  if (!followed) use.changes = SharedUse::kTaken;
  return use;
}

Source CollectionFlags::read(const Command& app, const SharedArguments& shared,
                             RequestLimits& limits) const {
  SearchedCollection collection{
      .name = name_, .nodes = nodes_, .node_timeout = shared.node_timeout};
  const layout::CollectionOptions options = options_of(name_);
  refuse_unused(app, std::vector<OptionRule>{{"--second-tier", options.store.has_value(),
                                              "a collection whose segments have second copies"}});
  collection.second_tier = second_tier_;
  const bool pages = options.in_pages();
  if (pages) {
    collection.tier = "ssd";
    collection.pages = shared.disk;
  }
  if (!shared.tier.empty()) collection.tier = shared.tier;
  refuse_unused_shared(app, use_of(!nodes_.segments.empty(), follow_, pages));
  check_name();
  if (pages) {
    // More results than are ranked again cannot be asked for.
    const auto rerank = search::parse_page_choice(shared.disk).rerank.value_or(0);
    if (rerank > 0) limits.max_k = std::min(limits.max_k, rerank);
  }
  if (follow_) return FollowedSource{std::move(collection)};
  check_changes(shared);
  return ChangedSource{.collection = std::move(collection),
                       .durability = shared.durability,
                       .changes = shared.changes,
                       .background = background_};
}

}  // namespace

std::unique_ptr<SourceFlags> collection_flags() {
  return std::make_unique<CollectionFlags>();
}

}  // namespace farvec::compute_node
