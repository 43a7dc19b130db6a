#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>

namespace farvec {

void set_up_logging(const char* program) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt(program));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %l %v");
  const char* level = std::getenv("FARVEC_LOG");
  spdlog::set_level(level != nullptr ? spdlog::level::from_str(level) : spdlog::level::info);
}

}  // namespace farvec
