#include "search/searchers/probe_counts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/region/json_fields.h"

namespace farvec::search {
namespace {

constexpr const char* kFormat = "farvec-probe-counts";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

/// Identifies the clustering, in the same way for all layouts and groupings.
std::uint64_t clustering_of(const layout::Manifest& manifest) {
  if (!manifest.is_cluster()) {
    throw Error("probes are counted in cluster indexes, and this is a {}",
                to_string(manifest.kind()));
  }
  return manifest.region(layout::kCentroidsRegion).payload_checksum();
}

}  // namespace

ProbeCounts::ProbeCounts(const layout::Manifest& manifest)
    : dataset_(manifest.dataset.name),
      centroids_xxh3_(clustering_of(manifest)),
      counts_(manifest.cluster().geometry.clusters) {}

void ProbeCounts::add(const std::vector<std::uint64_t>& counts) {
  if (counts.size() != counts_.size()) {
    throw Error("counts of {} clusters, where there are {}", counts.size(), counts_.size());
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts_[i].fetch_add(counts[i], std::memory_order_relaxed);
  }
}

ProbeTally ProbeCounts::tally() const {
  ProbeTally tally{dataset_, centroids_xxh3_, std::vector<std::uint64_t>(counts_.size())};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    tally.counts[i] = counts_[i].load(std::memory_order_relaxed);
  }
  return tally;
}

void add_probes(const ProbeTally& more, const std::string& whose, ProbeTally& sum) {
  if (more.centroids_xxh3 != sum.centroids_xxh3 || more.counts.size() != sum.counts.size()) {
    throw Error("compute node {} serves other clusters than the ones before it", whose);
  }
  for (std::size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += more.counts[i];
}

void write_probe_counts(const std::string& path, const ProbeTally& tally) {
  const nlohmann::ordered_json json{{"format", kFormat},
                                    {"dataset", tally.dataset},
                                    {"centroids_xxh3", layout::hash_to_text(tally.centroids_xxh3)},
                                    {"clusters", tally.counts.size()},
                                    {"counts", tally.counts}};
  // The name of a data set's file need not be UTF-8.
  const std::string text =
      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  OutputFile out(path, text.size());
  out.append(text.data(), text.size());
  out.commit();
}

std::vector<std::uint64_t> read_probe_counts(const std::string& path,
                                             const layout::Manifest& manifest) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(read_text(path, kMostBytes, "counts of probes"));
  } catch (const nlohmann::json::exception& error) {
    throw Error(
        "'{}' is not JSON ({}): counts of probes are written by 'farvec search "
        "--probe-counts' and 'farvec probe-counts'",
        path, error.what());
  }
  const layout::JsonFields fields(json, path);
  if (fields.text("format") != kFormat) fields.fail("format", fmt::format("is not {}", kFormat));
  if (fields.hash("centroids_xxh3") != clustering_of(manifest)) {
    throw Error("'{}' counts the probes of other clusters than this index has", path);
  }
  const nlohmann::json& array = fields.array("counts");
  const std::uint32_t clusters = manifest.cluster().geometry.clusters;
  if (array.size() != clusters) {
    throw Error("'{}' has counts of {} clusters, the index has {}", path, array.size(), clusters);
  }
  std::vector<std::uint64_t> counts;
  for (const nlohmann::json& count : array) {
    if (!count.is_number_unsigned()) fields.fail("counts", "has something else than counts");
    counts.push_back(count.get<std::uint64_t>());
  }
  return counts;
}

}  // namespace farvec::search
