// A collection that threads change, so that segments are built and merged, until the power goes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "collection/write/collection.h"
#include "tests/power/changes.h"
#include "tests/power/journal.h"

namespace farvec::power {

class CollectionLife {
 public:
  CollectionLife(std::filesystem::path folder, Journal& journal);

  /// As HnswLife::check().
  std::string check();
  /// As HnswLife::live().
  [[noreturn]] void live();

 private:
  void make();
  Rows stored_rows() const;
  void write(unsigned writer);
  void carry_out(const Change& change);

  const std::filesystem::path folder_;
  Journal& journal_;
  const Script script_;
  std::unique_ptr<collection::Collection> collection_;
  std::vector<Beginning> begins_;
};

}  // namespace farvec::power
