#include "cli/index/build_input.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/command_line.h"
#include "base/parallel.h"
#include "base/version.h"
#include "distance/distance.h"

namespace farvec::cli {
namespace {

/// "sift1m" for /data/sift1m/base.u8bin, else the file's stem.
std::string dataset_name(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(path);
  return file.stem() == "base" ? file.parent_path().filename().string() : file.stem().string();
}

}  // namespace

void add_input_options(Command& command, BuildInput& input) {
  command.add_option("--data", input.data, "Vectors to index").required();
  command.add_option("--metric", input.metric, "l2, ip or cosine").required();
  command.add_option("--name", input.name, "Data set's name in reports [its folder or file]");
  command.add_flag("--allow-nonfinite", input.allow_nonfinite,
                   "Drop rows with NaN or infinite values instead of refusing the file");
}

dataset::VectorSet load_source(const BuildInput& input) {
  dataset::VectorSet source = dataset::load(input.data, {.allow_nonfinite = input.allow_nonfinite});
  if (source.dropped() > 0) {
    fmt::print(stderr, "{}: dropped {} rows with NaN or infinite values; ids count what is left\n",
               input.data, source.dropped());
  }
  return source;
}

dataset::VectorSet stored_rows(dataset::VectorSet source, Metric metric, unsigned threads) {
  const VectorView from = source.view();
  const ElementType type = distance::stored_type(metric, from.type);
  if (metric != Metric::cosine) return source;
  dataset::VectorSet stored(from.count, from.dimension, type);
  parallel_for(from.count, 4096, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      distance::to_stored(from.row(i), from.type, metric, from.dimension, stored.mutable_row(i));
    }
  });
  return stored;
}

layout::Manifest describe_source(const BuildInput& input, const VectorView& source, Metric metric) {
  layout::Manifest manifest;
  manifest.metric = metric;
  manifest.source_type = source.type;
  manifest.stored_type = distance::stored_type(metric, source.type);
  manifest.normalised = metric == Metric::cosine;
  manifest.dataset.name = input.name.empty() ? dataset_name(input.data) : input.name;
  manifest.dataset.file = std::filesystem::path(input.data).filename().string();
  manifest.dataset.row_bytes = source.row_bytes();
  manifest.dataset.rows_hashed = source.count;
  manifest.dataset.xxh3 = layout::fingerprint(source);
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  return manifest;
}

std::vector<std::uint64_t> expected_frequencies(const MembershipView& membership,
                                                std::uint32_t clusters) {
  std::vector<std::uint64_t> frequencies(clusters);
  for (const ClusterId cluster : membership.clusters) ++frequencies[cluster];
  return frequencies;
}

}  // namespace farvec::cli
