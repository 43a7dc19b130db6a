// Sets up the daemons' log: spdlog on stderr, one line per event, with the level from FARVEC_LOG.
#pragma once

#include <spdlog/spdlog.h>

namespace farvec {

/// Sets the pattern and the level (FARVEC_LOG=trace|debug|info|warn|error, default info).
void set_up_logging(const char* program);

}  // namespace farvec
