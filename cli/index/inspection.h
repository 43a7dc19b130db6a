// What `farvec inspect` says of one kind of index: an Inspection for each, in a file of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layout/index/index_directory.h"
#include "layout/index/index_report.h"

namespace farvec::cli {

/// What was found in an index besides what every index has. The index must outlive it.
class Inspection {
 public:
  virtual ~Inspection() = default;
  /// How it was built, on one line.
  virtual std::string build_words() const = 0;
  /// Below the lines that every index has.
  virtual void print_identity() const {}
  virtual void print() const = 0;
  virtual void add_json(nlohmann::ordered_json& json) const = 0;
};

/// Reads what it needs of the index. `part` is the manifest's own. Throws Error.
std::unique_ptr<Inspection> inspect_part(const layout::IndexDirectory& index,
                                         const layout::GraphPart& part, unsigned threads);
std::unique_ptr<Inspection> inspect_part(const layout::IndexDirectory& index,
                                         const layout::ClusterPart& part, unsigned threads);

/// Of every graph: its entry, what the layouts cost, and its degrees.
class GraphInspection : public Inspection {
 public:
  GraphInspection(const layout::IndexDirectory& index, layout::DegreeReport degrees);

  std::string build_words() const override;
  void print_identity() const override;
  void print() const override;
  void add_json(nlohmann::ordered_json& json) const override;

 protected:
  const layout::Manifest& manifest() const { return index_.manifest(); }
  /// Between costs and degrees.
  virtual void print_pages() const {}
  virtual void add_pages(nlohmann::ordered_json&) const {}

 private:
  const layout::IndexDirectory& index_;
  layout::DegreeReport degrees_;
};

/// Of a graph in slotted pages.
std::unique_ptr<Inspection> inspect_pages(const layout::IndexDirectory& index, unsigned threads);

// For all of them:

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
void print_line(const char* name, const std::string& value);

}  // namespace farvec::cli
