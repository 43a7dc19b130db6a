// --tls-cert, --tls-key and --tls-ca, the same in every program.
#pragma once

#include <string>

#include "base/command_line.h"
#include "rpc/tls.h"

namespace farvec::rpc {

/// What load_tls() takes; whether the three fit together is its business.
void add_tls_flags(Command& app, TlsFiles& files);

/// Throws Error naming the first of them that was given; `where` tells where they mean something,
/// see OptionRule.
void refuse_tls_flags(const Command& app, const std::string& where);

}  // namespace farvec::rpc
