// What the rows of a sweep show of one kind of index: a KindRows for each, in a file of its own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "measure/report/table.h"
#include "measure/sweep/sweep_plan.h"
#include "measure/sweep/sweep_report.h"

namespace farvec::measure {

class KindRows {
 public:
  virtual ~KindRows() = default;

  virtual std::span<const Column> columns() const = 0;
  /// The cells before the slots.
  virtual std::vector<std::string> choice_cells(const SweepPoint& point, const std::string& tier,
                                                const SweepSamples& samples) const = 0;
  /// The cells behind the rates and latencies.
  virtual void add_counts(const SweepSamples& samples, std::vector<std::string>& cells) const = 0;

  /// What the searches of a point were asked for.
  virtual void add_parameters(const ReportContext& context, const SweepPoint& point,
                              nlohmann::ordered_json& row) const = 0;
  /// What was measured besides what every kind has: add_disk_facts() too.
  virtual void add_facts(const layout::Manifest& manifest, const SweepSamples& samples,
                         nlohmann::ordered_json& row) const = 0;
};

/// Lives as long as the program. `part` is of the manifest of the index.
const KindRows& rows_of(const layout::GraphPart& part);
const KindRows& rows_of(const layout::ClusterPart& part);
/// Of a graph in slotted pages.
const KindRows& page_rows();
/// Of every graph.
void add_graph_parameters(const layout::Manifest& manifest, const SweepPoint& point,
                          nlohmann::ordered_json& row);

// For all of them:

double per_query(std::uint64_t total, const SweepSamples& samples);
std::string one_decimal(double value);
const char* on_off(bool value);
/// The tier, and whether records of it were cached.
std::string tier_cell(const SweepPoint& point, const std::string& tier);
/// The least rate that what is known of this machine's memory and of a modelled device allows.
std::string bound_cell(const SweepSamples& samples);
/// The rate that computation alone allows, where it was measured.
std::string compute_cell(const SweepSamples& samples);
nlohmann::ordered_json or_null(bool holds, nlohmann::ordered_json value);
/// What a disk was asked for; nothing for other tiers.
void add_disk_facts(const SweepSamples& samples, nlohmann::ordered_json& row);

}  // namespace farvec::measure
