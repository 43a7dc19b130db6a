#include <fmt/format.h>

#include <utility>

#include "cli/index/code_bits_option.h"
#include "cli/index/inspection.h"
#include "indexing/steering_words.h"
#include "layout/index/cluster_report.h"

namespace farvec::cli {
namespace {

using layout::Manifest;

nlohmann::ordered_json sizes_to_json(const layout::SizeReport& sizes) {
  return {{"min", sizes.least}, {"mean", sizes.mean}, {"p50", sizes.p50},
          {"p90", sizes.p90},   {"p99", sizes.p99},   {"max", sizes.most}};
}

void print_sizes(const char* name, const layout::SizeReport& sizes) {
  fmt::print("{:<16} {:>10} {:>10.1f} {:>10} {:>10} {:>10} {:>10}\n", name, sizes.least, sizes.mean,
             sizes.p50, sizes.p90, sizes.p99, sizes.most);
}

void print_clusters(const Manifest& manifest, const layout::ClusterReport& report) {
  fmt::print(
      "\nrecords {:.3f} times the data (coupled: {:.3f}), with centroids and table {:.3f};\n"
      "{:.2f} bytes of compute DRAM per vector\n",
      report.amplification, report.coupled_amplification, report.total_amplification,
      report.compute_dram_bytes_per_vector);
  fmt::print("\n{:<16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "per cluster", "min", "mean",
             "p50", "p90", "p99", "max");
  print_sizes("members", report.members);
  print_sizes("in its group", report.groups);
  print_sizes("strays", report.strays);
  fmt::print("{:.1f}% of all members are strays; {} clusters are empty\n", 100 * report.stray_share,
             report.empty_clusters);
  fmt::print("\nevery vector is in {:.2f} clusters on average\n", report.clusters_per_vector);
  const auto& replication = manifest.cluster().replication;
  for (std::size_t i = 0; i < replication.size(); ++i) {
    if (replication[i] == 0) continue;
    fmt::print("{:>9} {:>15}\n", i + 1, grouped(replication[i]));
  }
}

class ClusterInspection final : public Inspection {
 public:
  explicit ClusterInspection(const layout::IndexDirectory& index)
      : manifest_(index.manifest()),
        report_(layout::cluster_report(manifest_, index.load_cluster_locator({}))) {}

  std::string build_words() const override {
    const layout::ClusterDescription& description = manifest_.cluster();
    const layout::ClusterBuildParameters& build = description.build;
    return fmt::format(
        "{} clusters, heads {}, replicas {}, closure {} (ratio {:g}, factor {:g}), balance {:g}, "
        "sample {}, seed {}{}",
        grouped(description.geometry.clusters), to_string(build.heads), build.replicas,
        to_string(build.closure), build.closure_ratio, build.rng_factor, build.balance,
        grouped(build.sample), build.seed,
        description.geometry.has_codes()
            ? fmt::format(", codes of {} bits", description.geometry.code_bits)
            : "");
  }
  void print() const override {
    const std::string why = indexing::steering_words(manifest_, kCodeBitsOption);
    if (!why.empty()) fmt::print("\n{}\n", why);
    print_clusters(manifest_, report_);
  }
  void add_json(nlohmann::ordered_json& json) const override {
    json["amplification"] = report_.amplification;
    const std::string why = indexing::steering_words(manifest_, kCodeBitsOption);
    if (!why.empty()) json["code_bits_because"] = why;
    json["coupled_amplification"] = report_.coupled_amplification;
    json["total_amplification"] = report_.total_amplification;
    json["compute_dram_bytes_per_vector"] = report_.compute_dram_bytes_per_vector;
    json["clusters_per_vector"] = report_.clusters_per_vector;
    json["stray_share"] = report_.stray_share;
    json["empty_clusters"] = report_.empty_clusters;
    json["members"] = sizes_to_json(report_.members);
    json["groups"] = sizes_to_json(report_.groups);
    json["strays"] = sizes_to_json(report_.strays);
  }

 private:
  const Manifest& manifest_;
  layout::ClusterReport report_;
};

}  // namespace

std::unique_ptr<Inspection> inspect_kind(const layout::IndexDirectory& index,
                                         const layout::ClusterDescription&, unsigned) {
  return std::make_unique<ClusterInspection>(index);
}

}  // namespace farvec::cli
