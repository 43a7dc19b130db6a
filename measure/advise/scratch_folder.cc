#include "measure/advise/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.h"

namespace farvec::measure {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const fs::path& parent, std::string_view option) {
  std::string pattern = (parent / "farvec-advise-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw SystemError(errno,
                      "cannot make a folder like '{}' for small indexes: choose another "
                      "place with {}",
                      pattern, option);
  }
  path_ = pattern;
}

void ScratchFolder::remove() const {
  // It is renamed first: a thread that still writes below the old name finds no folder.
  std::error_code error;
  fs::path gone = path_;
  gone += "-gone";
  fs::rename(path_, gone, error);
  fs::remove_all(error ? path_ : gone, error);
}

}  // namespace farvec::measure
