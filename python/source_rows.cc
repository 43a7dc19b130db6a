#include "python/source_rows.h"

#include <utility>

#include "base/status_error.h"
#include "base/stored_form.h"
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

void require_metric(std::string_view name, Metric metric, ElementType type) {
  try {
    require_metric_fits(metric, type);
  } catch (const StatusError& error) {
    throw_invalid("{}: {}", name, error.what());
  }
}

Wish AskedBits::wish(bool round_doubles) const {
  Wish wish{.round_doubles = round_doubles, .bit_order = parse_bitorder(bitorder)};
  if (!type) {
    if (dimension) throw_invalid("dimension: is only for type='b1', vectors of bits");
    return wish;
  }
  if (*type != "b1") {
    throw_invalid("type: '{}' is not 'b1', which says that bytes are bits: leave it out", *type);
  }
  wish.type = ElementType::b1;
  if (dimension) wish.dimension = within(*dimension, "dimension", 1, kMaxBits);
  return wish;
}

SourceRows::SourceRows(const FileOrArray& data, std::string_view name, const Wish& wish)
    : name_(name), wish_(wish) {
  if (const auto* const path = std::get_if<std::filesystem::path>(&data)) {
    path_ = path->string();
    if (wish.round_doubles && open()->info().rounded) warn_of_rounding(path_);
    return;
  }
  array_.emplace(std::get<AnyArray>(data), name, wish);
  if (array_->view().count == 0) throw_invalid("{}: there are no rows", name);
}

const VectorView& SourceRows::load(const dataset::LoadOptions& options) {
  if (array_) {
    if (options.metric) require_metric(name_, *options.metric, array_->view().type);
    array_->require_sound(options.metric);
    view_ = array_->view();
  } else if (!loaded_) {
    loaded_ = dataset::load(*open(), options);
    view_ = loaded_->view();
  }
  return view_;
}

std::unique_ptr<dataset::VectorReader> SourceRows::open() const {
  if (array_) return std::make_unique<dataset::ViewReader>(array_->view(), std::string(name_));
  auto file = dataset::open_vectors(path_);
  if (wish_.type != ElementType::b1) return file;
  if (file->info().type != ElementType::b1) {
    return dataset::read_packed_bits(std::move(file), wish_.bit_order, wish_.dimension);
  }
  if (wish_.dimension.value_or(file->info().dimension) == file->info().dimension) return file;
  throw_invalid("dimension: '{}' holds vectors of {} bits, not {}", path_, file->info().dimension,
                *wish_.dimension);
}

}  // namespace farvec::python
