// --tls-cert, --tls-key and --tls-ca, the same in every program.
#pragma once

#include "rpc/tls.h"

namespace CLI {
class App;
}

namespace farvec::rpc {

/// What load_tls() takes; whether the three fit together is its business.
void add_tls_flags(CLI::App& app, TlsFiles& files);

}  // namespace farvec::rpc
