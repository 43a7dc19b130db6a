#include "search/index/second_copy.h"

#include <utility>

#include "base/error.h"

namespace farvec::search {

SecondCopy::SecondCopy(std::shared_ptr<const layout::SecondCopyFile> file,
                       const layout::Manifest& manifest)
    : file_(std::move(file)),
      form_(file_->form()),
      dimension_(manifest.dimension),
      reduction_(form_.facts(), manifest.stored_type, dimension_),
      kernel_(distance::pair_kernel(metric(), type(), dimension_)) {}

SecondCopy::SecondCopy(layout::SecondCopyForm form, const layout::Manifest& manifest)
    : form_(std::move(form)),
      dimension_(manifest.dimension),
      reduction_(form_.facts(), manifest.stored_type, dimension_),
      kernel_(distance::pair_kernel(metric(), type(), dimension_)) {}

const layout::SecondCopyFile& SecondCopy::file() const {
  if (file_ != nullptr) return *file_;
  throw Error(
      "the second copy of this index is on its memory nodes, and is read from there: leave "
      "--second-tier out");
}

bool SecondCopy::is_exact() const {
  return type() == source_type();
}

}  // namespace farvec::search
