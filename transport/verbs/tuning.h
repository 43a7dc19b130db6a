// VerbsTuning says what measurements switch off in a verbs endpoint.
#pragma once

namespace farvec::transport {

/// Searches use both off. Each shows, when on, what the optimisation saves.
struct VerbsTuning {
  bool signal_every_read = false;    ///< a completion entry per read, not one per chain
  bool doorbell_every_read = false;  ///< a call of the driver per read, not one per chain
};

}  // namespace farvec::transport
