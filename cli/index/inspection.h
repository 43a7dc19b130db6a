// Defines what `farvec inspect` says of one kind of index: there is an Inspection for each, in a
// file of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layout/index/index_directory.h"
#include "layout/index/index_report.h"

namespace farvec::cli {

/// Shows what was found in an index besides what every index has. The index must outlive it.
class Inspection {
 public:
  virtual ~Inspection() = default;
  /// Returns how it was built, on one line.
  virtual std::string build_words() const = 0;
  /// Prints lines below those that every index has.
  virtual void print_identity() const {}
  virtual void print() const = 0;
  virtual void add_json(nlohmann::ordered_json& json) const = 0;
};

/// Reads what it needs from the index. `description` is the one in the index's own
/// manifest. Throws Error.
std::unique_ptr<Inspection> inspect_kind(const layout::IndexDirectory& index,
                                         const layout::GraphDescription& description,
                                         unsigned threads);
std::unique_ptr<Inspection> inspect_kind(const layout::IndexDirectory& index,
                                         const layout::ClusterDescription& description,
                                         unsigned threads);

/// Shows what every graph has: its entry, what the layouts cost, and its degrees.
class GraphInspection : public Inspection {
 public:
  GraphInspection(const layout::IndexDirectory& index, layout::DegreeReport degrees);

  std::string build_words() const override;
  void print_identity() const override;
  void print() const override;
  void add_json(nlohmann::ordered_json& json) const override;

 protected:
  const layout::Manifest& manifest() const { return index_.manifest(); }
  /// Prints lines between costs and degrees.
  virtual void print_pages() const {}
  virtual void add_pages(nlohmann::ordered_json&) const {}

 private:
  const layout::IndexDirectory& index_;
  layout::DegreeReport degrees_;
};

/// Inspects a graph in slotted pages.
std::unique_ptr<Inspection> inspect_pages(const layout::IndexDirectory& index, unsigned threads);

// All kinds of inspections use these:

/// Returns 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
void print_line(const char* name, const std::string& value);

}  // namespace farvec::cli
