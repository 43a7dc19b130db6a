// --durability, as every program with a log takes it.
#pragma once

#include <string>

#include "wal/log.h"

namespace farvec::wal {

/// Of the option, for a program in which `none` means durable when `ends`: "the command ends".
std::string durability_help(const std::string& ends);

/// "commit", "interval:MS" or "none". Throws Error naming --durability.
void parse_durability(const std::string& text, LogOptions& log);

}  // namespace farvec::wal
