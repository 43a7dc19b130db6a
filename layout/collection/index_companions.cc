#include "layout/collection/index_companions.h"

#include "base/error.h"
#include "layout/collection/index_attributes.h"
#include "layout/index/index_removal.h"
#include "layout/index/second_copy.h"

namespace farvec::layout {

namespace fs = std::filesystem;

void check_companions(const IndexDirectory& index, const fs::path& to) {
  const bool attributes = read_index_schema(index.path(), index.manifest()).has_value();
  const bool second = index.manifest().second_copy.has_value();
  if (second) SecondCopyFile(index.path(), index.manifest());
  if (!(attributes || second) || !fs::exists(to) || !fs::equivalent(index.path(), to)) return;
  throw Error(
      "'{}' has {}, which would be lost where the index is replaced by one made of it: "
      "write to another folder",
      to.string(), second ? "a second copy of its vectors" : "attributes of its rows");
}

void copy_companions(const IndexDirectory& index, const fs::path& to) {
  try {
    copy_index_attributes(index.path(), index.manifest(), to);
    copy_second_copy(index.path(), index.manifest(), to);
  } catch (...) {
    remove_index_with_warning(to);
    throw;
  }
}

}  // namespace farvec::layout
