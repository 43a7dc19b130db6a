#include "python/source_rows.h"

#include <utility>

#include "dataset/view_reader.h"
#include "python/errors.h"

namespace farvec::python {
namespace {

void warn_of_rounding(const std::string& path) {
  const std::string text =
      fmt::format("'{}' holds float64, and its values are rounded to float32", path);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nanobind::python_error();
}

}  // namespace

SourceRows::SourceRows(const FileOrArray& data, std::string_view name, bool round_doubles)
    : name_(name) {
  if (const auto* const path = std::get_if<std::filesystem::path>(&data)) {
    path_ = path->string();
    if (round_doubles && dataset::open_vectors(path_)->info().rounded) warn_of_rounding(path_);
    return;
  }
  array_.emplace(std::get<AnyArray>(data), name, Wish{.type = {}, .round_doubles = round_doubles});
  if (array_->view().count == 0) throw_invalid("{}: there are no rows", name);
}

const VectorView& SourceRows::load(const dataset::LoadOptions& options) {
  if (array_) {
    array_->require_sound(options.metric);
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
