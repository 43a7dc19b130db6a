# Run at build time: writes OUTPUT when the version or the checked-out commit has changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "base/version.h"

namespace farvec {
std::string_view version() { return "@VERSION@"; }
std::string_view commit() { return "@commit@"; }
}  // namespace farvec
]])
