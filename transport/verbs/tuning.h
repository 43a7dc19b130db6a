// What measurements switch off in a verbs endpoint.
#pragma once

namespace farvec::transport {

/// Both off is what searches use. On, each shows what leaving it out costs.
struct VerbsTuning {
  bool signal_every_read = false;    ///< a completion entry per read, not one per chain
  bool doorbell_every_read = false;  ///< a call of the driver per read, not one per chain
};

}  // namespace farvec::transport
