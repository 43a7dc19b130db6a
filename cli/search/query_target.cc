#include "cli/search/query_target.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "client/remote_node.h"
#include "client/remote_search.h"
#include "dataset/vector_file.h"
#include "measure/report/measurement.h"
#include "measure/sweep/disk_choices.h"
#include "search/core/batch_search.h"
#include "search/core/queries.h"
#include "search/filter/asked_condition.h"
#include "search/kinds/index_loader.h"
#include "search/searchers/probe_counts.h"
#include "tiers/index_on_tier.h"

namespace farvec::cli {
namespace {

/// Reads one number of slots; returns 0 for "auto".
std::uint32_t one_slots(const std::string& text) {
  const auto slots = measure::split_slots(text);
  if (slots.size() > 1) throw Error("--slots: give one number; `farvec sweep` compares several");
  return slots.front();
}

tiers::TierSpecPointer second_tier_of(const SearchArguments& arguments) {
  return arguments.second_tier.empty() ? nullptr : tiers::parse_tier(arguments.second_tier);
}

class IndexHere final : public QueryTarget {
 public:
  explicit IndexHere(const SearchArguments& arguments)
      : arguments_(arguments),
        slots_(one_slots(arguments.slots)),
        threads_(resolve_threads(arguments.threads)),
        directory_(checked(arguments)),
        index_(search::load_search_index(directory_, {.quiet = arguments.quiet})),
        condition_(search::asked_condition(index_, arguments.parameters.filter, "--filter")),
        queries_(search::load_queries(arguments.queries,
                                      search::form_of(directory_.manifest(), index_))),
        records_(directory_, {.quiet = arguments.quiet}),
        spec_(tiers::parse_tier(arguments.tier)),
        tier_(*spec_, {.memory = &records_,
                       .index = &index_,
                       .second_tier = second_tier_of(arguments),
                       .remote = {.tls = arguments.tls, .cores = threads_}}) {}

  std::size_t queries() const override { return queries_.count(); }

  measure::SearchReach reach() const override {
    const layout::Manifest& manifest = directory_.manifest();
    measure::SearchReach reach{.bounds = search::limits_of(manifest)};
    if (manifest.is_cluster()) reach.bounds.clusters = manifest.cluster().geometry.clusters;
    reach.clusters_have_lists = manifest.has_member_codes() || index_.second() != nullptr;
    return reach;
  }

  QueryAnswers search(const search::AskedSearch& asked, Progress& progress) override {
    search::SearchShape shape = shape_of(asked);
    if (slots_ == 0) shape.slots = tier_.choose_slots(shape, queries_.view(), batch_of(asked));
    if (!arguments_.probe_counts.empty()) {
      shape.probe_counts = std::make_shared<search::ProbeCounts>(directory_.manifest());
    }
    QueryAnswers answers = run(asked, shape, queries(), progress);
    if (shape.probe_counts) {
      search::write_probe_counts(arguments_.probe_counts, shape.probe_counts->tally());
    }
    return answers;
  }

  QueryAnswers try_out(const search::AskedSearch& asked, std::size_t count,
                       Progress& progress) override {
    search::SearchShape shape = shape_of(asked);
    if (slots_ == 0) shape.slots = search::SearchShape{}.slots;
    return run(asked, shape, count, progress);
  }

 private:
  QueryAnswers run(const search::AskedSearch& asked, const search::SearchShape& shape,
                   std::size_t count, Progress& progress) const {
    search::BatchParameters batch = batch_of(asked);
    batch.stop = [&progress] {
      progress.advance(1);
      return false;
    };
    VectorView queries = queries_.view();
    queries.count = count;
    QueryAnswers answers;
    answers.exact_distances =
        search::has_exact_distances(directory_.manifest(), index_, *shape.disk.rerank);
    const auto cores = tier_.make_cores(shape);
    const search::BatchOutcome outcome = search::run_batch(cores, queries, batch, answers.found);
    answers.seconds = outcome.seconds;
    answers.coverage = outcome.coverage;
    return answers;
  }

  /// Refuses numbers that are not allowed before anything is loaded.
  static layout::IndexDirectory checked(const SearchArguments& arguments) {
    auto directory = layout::IndexDirectory::open(arguments.index);
    (void)search::check_limits(arguments.parameters, search::limits_of(directory.manifest()));
    return directory;
  }

  search::BatchParameters batch_of(const search::AskedSearch& asked) const {
    search::BatchParameters batch{
        .search = search::check_limits(asked, search::limits_of(directory_.manifest())),
        .partial = asked.partial,
        .exact = asked.exact,
        .within = asked.within};
    batch.condition = condition_.get();
    batch.plan = asked.plan;
    batch.refine = asked.refine;
    batch.candidates = asked.candidates;
    return batch;
  }

  search::SearchShape shape_of(const search::AskedSearch& asked) const {
    search::SearchShape shape{.cores = threads_,
                              .slots = slots_,
                              .k = asked.k,
                              .list = asked.list,
                              .width = asked.width,
                              .probe = asked.probing.clusters};
    if (spec_->traits().disk) {
      shape.disk = measure::one_disk_choice(arguments_.disk, directory_.manifest());
    }
    shape.disk = search::resolve_rerank(shape.disk, directory_.manifest(), shape.k, shape.list);
    return shape;
  }

  const SearchArguments& arguments_;
  const std::uint32_t slots_;
  const unsigned threads_;
  const layout::IndexDirectory directory_;
  const search::SearchIndex index_;
  const std::shared_ptr<const attributes::Condition> condition_;
  const dataset::VectorSet queries_;
  tiers::IndexRecords records_;
  const tiers::TierSpecPointer spec_;
  const tiers::IndexOnTier tier_;
};

/// Has the first rows of a file, which is read as they are asked for.
class FirstRows final : public dataset::VectorReader {
 public:
  FirstRows(dataset::VectorReader& file, std::uint64_t count)
      : VectorReader(file.info()), file_(file) {
    info_.count = count;
  }

 private:
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    file_.read_rows(begin, count, out);
  }

  dataset::VectorReader& file_;
};

class ComputeNode final : public QueryTarget {
 public:
  explicit ComputeNode(const SearchArguments& arguments)
      : queries_(dataset::open_vectors(arguments.queries)) {
    options_.node = {.address = arguments.connect, .tls = arguments.tls};
    options_.deadline = std::chrono::milliseconds(arguments.deadline_ms);
    options_.retries = arguments.retries;
  }

  std::size_t queries() const override { return queries_->info().count; }

  measure::SearchReach reach() const override {
    const auto node = client::describe_node(*client::connect_to_node(options_.node), options_.node);
    return {.bounds = client::limits_of(node),
            .clusters_have_lists = node.refines() || node.code_bits() > 0};
  }

  QueryAnswers search(const search::AskedSearch& asked, Progress& progress) override {
    return try_out(asked, queries(), progress);
  }

  QueryAnswers try_out(const search::AskedSearch& asked, std::size_t count,
                       Progress& progress) override {
    client::RemoteSearchOptions options = options_;
    options.parameters = asked;
    options.answered = [&progress](std::size_t answered) { progress.advance(answered); };
    FirstRows first(*queries_, count);
    const auto start = std::chrono::steady_clock::now();
    client::RemoteResults found = client::search_remote(options, first);
    const auto end = std::chrono::steady_clock::now();
    return {.found = std::move(found.neighbors),
            .seconds = std::chrono::duration<double>(end - start).count(),
            .coverage = found.coverage};
  }

 private:
  const std::unique_ptr<dataset::VectorReader> queries_;
  client::RemoteSearchOptions options_;
};

}  // namespace

std::unique_ptr<QueryTarget> open_query_target(const SearchArguments& arguments) {
  if (arguments.connect.empty()) return std::make_unique<IndexHere>(arguments);
  return std::make_unique<ComputeNode>(arguments);
}

}  // namespace farvec::cli
