// Parses --durability, which every program with a log takes.
#pragma once

#include <string>

#include "wal/log.h"

namespace farvec::wal {

/// Returns the help text of the option, for a program in which `none` means durable when `ends`:
/// "the command ends".
std::string durability_help(const std::string& ends);

/// Parses "commit", "interval:MS" or "none" into `log`. Throws Error naming --durability.
void parse_durability(const std::string& text, LogOptions& log);

}  // namespace farvec::wal
