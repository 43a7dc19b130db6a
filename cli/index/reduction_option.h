// Adds the options of builds whose index has fewer bits than its data.
#pragma once

#include <optional>
#include <string>

#include "base/command_line.h"
#include "indexing/reduced_source.h"

namespace farvec::cli {

struct ReductionOption {
  std::string store;  ///< empty: the index has the vectors as they are
  std::string by = "sign";
  std::string bits_metric = "hamming";
  std::string second;  ///< empty: the data's type

  bool given() const { return !store.empty(); }
  /// Returns what was asked for, where it was given.
  indexing::ReductionWish wish() const;
};

void add_reduction_option(Command& command, ReductionOption& option);
/// Throws Error for an option that was given and means nothing.
void refuse_unused_reduction(const Command& command, const ReductionOption& option);
/// Throws Error where there is a sample of queries too: these would have to be reduced.
void refuse_sample_of_reduced(const ReductionOption& option, const std::string& sample_queries);

}  // namespace farvec::cli
