#include <vector>

#include "base/option_rules.h"
#include "compute_node/sources/source_flags.h"
#include "indexing/order/insertion_order.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"

namespace farvec::compute_node {
namespace {

class PagedFlags final : public SourceFlags {
 public:
  Option add(Command& app) override;
  const char* usage() const override { return "--paged DIRECTORY"; }
  bool chosen() const override { return !source_.folder.empty(); }
  void refuse_unused_flags(const Command& app) const override;
  Source read(const Command& app, const SharedArguments& shared,
              RequestLimits& limits) const override;

 private:
  PagedSource source_;
};

Option PagedFlags::add(Command& app) {
  const Option choice =
      app.add_option("--paged", source_.folder,
                     "Open an HNSW graph on pages for changes instead ('farvec build hnsw')");
  app.add_option(
      "--buffer", source_.buffer,
      "With --paged: memory for pages, as a share of the graph or a size [25%, with room\n"
      "for a change of each slot]");
  app.add_option("--page-reads", source_.page_reads,
                 "With --paged: how the pages of a vertex's neighbours are read: sync, parallel or "
                 "pipelined")
      .show_default();
  app.add_option("--min-complete", source_.min_complete,
                 "With --page-reads pipelined: a search goes on when this many pages have come")
      .range(1u, 1024u)
      .show_default();
  app.add_option("--change-slots", source_.change_slots,
                 "With --paged: inserts, deletes and reads by id in flight on each core")
      .range(1u, 256u)
      .show_default();
  app.add_option("--insert-order", source_.insert_order,
                 "With --paged: order in which the rows of a call go in, so that near ones find "
                 "their pages in the buffer: none, first, centroid, pca, kmeans or pca+kmeans")
      .show_default();
  return choice;
}

void PagedFlags::refuse_unused_flags(const Command& app) const {
  std::vector<OptionRule> rules;
  for (const char* option :
       {"--buffer", "--page-reads", "--min-complete", "--change-slots", "--insert-order"}) {
    rules.push_back({option, chosen(), "--paged"});
  }
  for (const char* option : {"--max-width", "--max-probe", "--default-probe", "--recall-sample"}) {
    rules.push_back({option, !chosen(), "sources other than --paged"});
  }
  refuse_unused(app, rules);
}

Source PagedFlags::read(const Command& app, const SharedArguments& shared, RequestLimits&) const {
  PagedSource source = source_;
  source.durability = shared.durability;
  source.changes = shared.changes;
  refuse_unused_shared(app, {.changes = SharedUse::kTaken});
  paged::require_hnsw(source.folder);
  (void)paged::parse_read_mode(source.page_reads);
  (void)indexing::parse_order(source.insert_order);
  check_changes(shared);
  return source;
}

}  // namespace

std::unique_ptr<SourceFlags> paged_flags() {
  return std::make_unique<PagedFlags>();
}

}  // namespace farvec::compute_node
