#include "collection/build/segment_source.h"

#include <utility>

#include "collection/segment/segment_folder.h"
#include "collection/segment/whole_rows.h"
#include "indexing/row_order.h"

namespace farvec::collection {
namespace {

dataset::VectorSet whole_rows(const JoinedRows& joined, const SegmentRecipe& recipe) {
  const auto read = [&](const Segment& segment) {
    return read_whole_rows(*segment.folder().second(), recipe.manifest->dimension,
                           load_options(recipe));
  };
  return rows_of_all(joined.segments, recipe, read);
}

}  // namespace

SegmentSource::SegmentSource(indexing::Source whole, const SegmentRecipe& recipe)
    : whole_(std::move(whole)) {
  const auto& store = recipe.manifest->options.store;
  // A collection takes all rows that it can keep.
  if (store) reduced_.emplace(whole_, *store, recipe.threads, quantization::RoundedRows::any);
}

void SegmentSource::write_second(const std::filesystem::path& folder,
                                 const layout::Manifest& written,
                                 const layout::WriteOptions& options) const {
  if (reduced_) reduced_->write_second(folder, written, options);
}

JoinedSource::JoinedSource(const JoinedRows& joined, const SegmentRecipe& recipe)
    : recipe_(recipe), rows_(whole_rows(joined, recipe)) {
  describe();
}

void JoinedSource::describe() {
  const layout::CollectionManifest& manifest = *recipe_.manifest;
  layout::Manifest description =
      indexing::describe_source({recipe_.name, recipe_.name}, rows_.view(), manifest.metric);
  description.source_type = manifest.source_type;
  source_.emplace(indexing::Source{std::move(description), rows_.view()}, recipe_);
}

void JoinedSource::reorder(std::span<const NodeId> order) {
  source_.reset();
  rows_ = indexing::picked_rows(rows_.view(), order, recipe_.threads);
  describe();
}

}  // namespace farvec::collection
