// Builds an index of a vector file, searches it on a tier, and says what a query read and found.
//
//   search BASE QUERIES INDEX [TIER]      TIER as `farvec search --tier` takes it [dram]
//
// Set-up throws farvec::Error with what was wrong; a search ends with a Status.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "dataset/vector_set.h"
#include "indexing/graph_recipe.h"
#include "search/core/asked_search.h"
#include "search/core/batch_search.h"
#include "search/core/queries.h"
#include "search/kinds/index_loader.h"
#include "tiers/index_on_tier.h"

namespace {

constexpr std::uint32_t kNeighbours = 10;
constexpr std::uint32_t kList = 60;

void build(const std::string& data, const std::string& index) {
  farvec::dataset::VectorSet rows = farvec::indexing::stored_rows(
      farvec::dataset::load(data, {.metric = farvec::Metric::l2}), farvec::Metric::l2, 1);
  const farvec::graph::VamanaOptions options{.degree = 32, .quiet = true};
  const auto built = farvec::indexing::build_graph(
      {farvec::indexing::describe_source({.path = data, .name = ""}, rows.view(),
                                         farvec::Metric::l2),
       rows.view()},
      options);
  farvec::indexing::write_graph(index, built, {}, {.quiet = true});
}

/// Searches every query on one core with sixteen in flight.
farvec::dataset::GroundTruth search(const std::string& index_path, const std::string& queries_path,
                                    const std::string& tier_name) {
  const auto directory = farvec::layout::IndexDirectory::open(index_path);
  const auto index = farvec::search::load_search_index(directory, {.quiet = true});
  const auto queries = farvec::search::load_queries(
      queries_path, farvec::search::form_of(directory.manifest(), index));
  farvec::tiers::IndexRecords records(directory);
  const auto spec = farvec::tiers::parse_tier(tier_name);
  const farvec::tiers::IndexOnTier tier(*spec, {.memory = &records, .index = &index});

  const farvec::search::SearchShape shape{.cores = 1, .slots = 16, .k = kNeighbours, .list = kList};
  const auto cores = tier.make_cores(shape);
  const farvec::search::BatchParameters batch{
      .search = farvec::search::check_limits({.k = kNeighbours, .list = kList},
                                             farvec::search::limits_of(directory.manifest()))};
  farvec::dataset::GroundTruth results;
  const auto outcome = farvec::search::run_batch(cores, queries.view(), batch, results);
  std::printf("%zu queries on %s, %.1f reads each\n", results.queries, tier.model().c_str(),
              static_cast<double>(outcome.totals.reads) / static_cast<double>(results.queries));
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: search BASE QUERIES INDEX [TIER]\n");
    return 2;
  }
  try {
    if (!std::filesystem::exists(argv[3])) build(argv[1], argv[3]);
    const auto found = search(argv[3], argv[2], argc > 4 ? argv[4] : "dram");
    std::printf("nearest to query 0: row %u at distance %g\n", found.ids[0],
                static_cast<double>(found.distances[0]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search: %s\n", error.what());
    return 1;
  }
  return 0;
}
