#include "measure/sweep/kind_rows.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace farvec::measure {

const KindRows& rows_of(const layout::Manifest& manifest) {
  return std::visit([](const auto& kind) -> const KindRows& { return rows_of(kind); },
                    manifest.description);
}

double per_query(std::uint64_t total, const SweepSamples& samples) {
  return samples.queries == 0 ? 0
                              : static_cast<double>(total) / static_cast<double>(samples.queries);
}

std::string bound_cell(const SweepSamples& samples) {
  double least = 0;
  for (const double bound : {samples.memory_bound_qps, samples.device_bound_qps}) {
    if (bound > 0 && (least == 0 || bound < least)) least = bound;
  }
  return least > 0 ? fmt::format("{:.0f}", least) : "-";
}

std::string compute_cell(const SweepSamples& samples) {
  const double bound = samples.compute_bound_qps;
  return bound > 0 ? fmt::format("{:.0f}", bound) : "-";
}

const char* on_off(bool value) {
  return value ? "on" : "off";
}

std::string tier_cell(const SweepPoint& point, const std::string& tier) {
  return point.cache_bytes > 0 ? tier + "+cache" : tier;
}

void add_disk_facts(const SweepSamples& samples, nlohmann::ordered_json& row) {
  if (samples.memory_bytes == 0) return;
  row["memory_bytes"] = samples.memory_bytes;
  row["io_reads_per_query"] = per_query(samples.io_reads, samples);
  row["io_bytes_per_query"] = per_query(samples.io_bytes, samples);
}

nlohmann::ordered_json or_null(bool holds, nlohmann::ordered_json value) {
  return holds ? std::move(value) : nlohmann::ordered_json();
}

}  // namespace farvec::measure
