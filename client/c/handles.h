// These are the handles of farvec.h, as the library sees them.
#pragma once

#include <memory>

#include "client/c/answers.h"
#include "client/c/farvec.h"
#include "client/c/given.h"
#include "client/c/worker.h"

/// Those who wait for a call keep the worker while farvec_close() frees the connection.
struct farvec_connection {
  std::shared_ptr<farvec::c::Worker> worker;
};

struct farvec_results {
  farvec::c::Found found;
};

struct farvec_rows {
  farvec::c::ReadRows read;
};

namespace farvec::c {

/// Returns the worker of a connection. Throws StatusError (invalid_argument) where there is none.
inline std::shared_ptr<Worker> worker_of(farvec_connection* connection) {
  return required(connection, "connection").worker;
}

/// Returns where a result goes, with nothing in it yet.
template <typename T>
T*& emptied(T** out, const char* name) {
  T*& place = required(out, name);
  place = nullptr;
  return place;
}

}  // namespace farvec::c
