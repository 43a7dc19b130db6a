// Defines what the rows of a sweep show for one kind of index: there is a KindRows for each, in a
// file of its own.
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
  /// Returns the cells before the slots.
  virtual std::vector<std::string> choice_cells(const SweepPoint& point, const std::string& tier,
                                                const SweepSamples& samples) const = 0;
  /// Adds the cells after the rates and latencies.
  virtual void add_counts(const SweepSamples& samples, std::vector<std::string>& cells) const = 0;

  /// Adds what the searches of a point were asked for.
  virtual void add_parameters(const ReportContext& context, const SweepPoint& point,
                              nlohmann::ordered_json& row) const = 0;
  /// Adds what was measured besides what every kind has, the facts of add_disk_facts() too.
  virtual void add_facts(const layout::Manifest& manifest, const SweepSamples& samples,
                         nlohmann::ordered_json& row) const = 0;
};

/// Returns the rows for an index. They live as long as the program.
const KindRows& rows_of(const layout::Manifest& manifest);
/// Returns the same. `description` is the one in the index's manifest for its kind.
const KindRows& rows_of(const layout::GraphDescription& description);
const KindRows& rows_of(const layout::ClusterDescription& description);
/// Returns the rows for a graph in slotted pages.
const KindRows& page_rows();
/// Adds the parameters that every graph has.
void add_graph_parameters(const layout::Manifest& manifest, const SweepPoint& point,
                          nlohmann::ordered_json& row);

// All kinds of rows use these:

double per_query(std::uint64_t total, const SweepSamples& samples);
const char* on_off(bool value);
/// Returns the tier, and whether records of it were cached.
std::string tier_cell(const SweepPoint& point, const std::string& tier);
/// Returns the lower of the bounds of the rate that this machine's memory and a modelled device
/// set, where they are known.
std::string bound_cell(const SweepSamples& samples);
/// Returns the rate that computation alone allows, where it was measured.
std::string compute_cell(const SweepSamples& samples);
nlohmann::ordered_json or_null(bool holds, nlohmann::ordered_json value);
/// Adds what a disk was asked for; nothing for other tiers.
void add_disk_facts(const SweepSamples& samples, nlohmann::ordered_json& row);

}  // namespace farvec::measure
