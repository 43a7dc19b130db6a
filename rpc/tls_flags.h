// Declares --tls-cert, --tls-key and --tls-ca, the same in every program.
#pragma once

#include <string>

#include "base/command_line.h"
#include "rpc/tls.h"

namespace farvec::rpc {

/// Adds the flags for load_tls(), which checks whether the three fit together.
void add_tls_flags(Command& app, TlsFiles& files);

/// Throws Error naming the first of the flags that was given; `where` says where they mean
/// something, see OptionRule.
void refuse_tls_flags(const Command& app, const std::string& where);

}  // namespace farvec::rpc
