#include "search/index/second_copy.h"

#include <utility>

#include "base/stored_form.h"

namespace farvec::search {

SecondCopy::SecondCopy(std::shared_ptr<const layout::SecondCopyFile> file, ElementType reduced,
                       std::uint32_t dimension)
    : file_(std::move(file)),
      dimension_(dimension),
      reduction_(file_->facts(), reduced, dimension),
      kernel_(distance::pair_kernel(file_->facts().metric, file_->facts().type, dimension)) {}

bool SecondCopy::is_exact() const {
  return type() == source_type();
}

}  // namespace farvec::search
