// SourceArguments read from the command line what a compute node serves.
#pragma once

#include <memory>
#include <vector>

#include "base/command_line.h"
#include "compute_node/service/admission.h"
#include "compute_node/sources/shared_arguments.h"
#include "compute_node/sources/source.h"
#include "compute_node/sources/source_flags.h"

namespace farvec::compute_node {

class SourceArguments {
 public:
  SourceArguments();

  /// Adds the flags of every kind of source. `app` sets values of this object when it parses.
  void add(Command& app);
  /// Throws UsageError when no source was given. The command line itself refuses more than one.
  void require_one() const;
  /// Returns the source that was given, and sets or lowers in `limits` what follows from it. Throws
  /// Error for options that mean nothing together, or would be ignored.
  Source read(const Command& app, RequestLimits& limits) const;

 private:
  std::vector<std::unique_ptr<SourceFlags>> kinds_;
  SharedArguments shared_;
};

}  // namespace farvec::compute_node
