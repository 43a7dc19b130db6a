// This header keeps the connections of a backend to compute nodes, until the backend ends.
#ifndef FARVEC_POSTGRES_CONNECTIONS_H
#define FARVEC_POSTGRES_CONNECTIONS_H

#include <postgres.h>

#include <datatype/timestamp.h>

#include "postgres/library.h"

#define FARVEC_MAX_CONNECTIONS 16  // in a backend; for another, the one longest unused is closed

#define FARVEC_MAX_ADDRESS 255  // bytes

typedef struct Connection {
  char address[FARVEC_MAX_ADDRESS + 1];  // empty: this place is free
  farvec_connection* handle;
  farvec_description served;
  TimestampTz described_at;  // when the node said that; at most a second before a search begins
  uint64 last_use;
} Connection;

// The connection to an address, made when there is none yet. Ends with an error where the user may
// not name this address, or nothing answers there. It stays usable until connection_to() is called
// again.
Connection* connection_to(const char* address, Patience* patience);

// The connection to an address for what belongs to `user`. NULL, with the reason in `error`, where
// the user may not name this address, or nothing answers there. Ends with an error only where the
// query was cancelled, or libfarvec cannot be loaded.
Connection* try_connection_to(const char* address, Oid user, Patience* patience,
                              farvec_error* error);

// Asks the node again what it serves, and connects anew where that is another index than before.
// Answers whether it is.
bool refresh(Connection* connection, Patience* patience);

// Defines the settings: which nodes all users may name, and the files of TLS.
void define_connection_settings(void);

#endif
