#include "python/source_rows.h"

#include <utility>

#include "dataset/view_reader.h"
#include "python/errors.h"

namespace farvec::python {

SourceRows::SourceRows(FileOrArray data, std::string_view name) : name_(name) {
  if (auto* const path = std::get_if<std::filesystem::path>(&data)) {
    path_ = path->string();
    return;
  }
  array_.emplace(std::move(std::get<AnyArray>(data)), name);
  if (array_->view().count == 0) throw_invalid("{}: there are no rows", name);
}

const VectorView& SourceRows::load(const dataset::LoadOptions& options) {
  if (array_) {
    array_->require_finite();
    view_ = array_->view();
  } else if (!loaded_) {
    loaded_ = dataset::load(path_, options);
    view_ = loaded_->view();
  }
  return view_;
}

std::unique_ptr<dataset::VectorReader> SourceRows::open() const {
  if (!array_) return dataset::open_vectors(path_);
  return std::make_unique<dataset::ViewReader>(array_->view(), std::string(name_));
}

}  // namespace farvec::python
