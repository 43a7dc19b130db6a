// SourceFlags are what the command line has for one kind of source: its flags, and what they may
// say together.
#pragma once

#include <memory>

#include "base/command_line.h"
#include "compute_node/service/admission.h"
#include "compute_node/sources/shared_arguments.h"
#include "compute_node/sources/source.h"

namespace farvec::compute_node {

class SourceFlags {
 public:
  virtual ~SourceFlags() = default;

  /// Adds the flags to `app`, which sets values of this object when it parses. Returns the flag
  /// that chooses this kind.
  virtual Option add(Command& app) = 0;
  /// Returns how the flag that chooses it is written: "--index DIRECTORY".
  virtual const char* usage() const = 0;
  virtual bool chosen() const = 0;
  /// Throws Error naming the first of the kind's own flags that was given and means nothing. It is
  /// called whether the kind was chosen or not.
  virtual void refuse_unused_flags(const Command& app) const = 0;
  /// Returns what was chosen. It may lower `limits` to what the source can answer. Throws Error for
  /// values that do not fit, and for flags of others that this source does not take.
  virtual Source read(const Command& app, const SharedArguments& shared,
                      RequestLimits& limits) const = 0;
};

// SourceArguments calls one function for each kind.
std::unique_ptr<SourceFlags> memory_node_flags();
std::unique_ptr<SourceFlags> directory_flags();
std::unique_ptr<SourceFlags> collection_flags();
std::unique_ptr<SourceFlags> paged_flags();

}  // namespace farvec::compute_node
