// Declares the options that give the rows of an index attributes.
#pragma once

#include <filesystem>
#include <string>

#include "base/command_line.h"
#include "cli/index/build_input.h"
#include "dataset/vector_set.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"
#include "layout/index/manifest.h"

namespace farvec::cli {

struct RowAttributesOption {
  std::string schema;
  std::string file;
};

void add_row_attributes(Command& command, RowAttributesOption& option);

/// The attributes that were read; without columns: none were asked for.
struct ReadAttributes {
  layout::Schema schema;
  layout::Tuples tuples;

  /// Writes them beside the index that was built, or does nothing. Throws Error.
  void write(const std::filesystem::path& index, const layout::Manifest& manifest) const;
};

/// Throws Error where rows of the file of vectors were dropped: the others' attributes would be
/// those of other rows.
void require_all_rows(const BuildInput& input, const dataset::VectorSet& rows,
                      const RowAttributesOption& option);

/// Reads the file, before the index is built. Throws Error that names the option: where only one of
/// them was given, for a schema without columns, and where there are not as many rows as vectors.
ReadAttributes read_row_attributes(const RowAttributesOption& option, std::size_t vectors);

}  // namespace farvec::cli
