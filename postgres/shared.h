// This header has the memory that all processes of a server share, which the server makes when it
// preloads the extension.
#ifndef FARVEC_POSTGRES_SHARED_H
#define FARVEC_POSTGRES_SHARED_H

#include <postgres.h>

#include <port/atomics.h>
#include <storage/spin.h>

#define FARVEC_SEGMENT_PATH 1024
#define FARVEC_ENGINE_REASON 256

// The server's engine, as its worker knows it.
typedef struct EngineState {
  slock_t lock;                       // guards the members below
  uint64 incarnation;                 // that of the engine that serves; 0: none does
  char segment[FARVEC_SEGMENT_PATH];  // the file of its channel
  char why[FARVEC_ENGINE_REASON];     // why none serves; empty: it has not been started yet
} EngineState;

typedef struct SharedState {
  uint64 start;  // random; another one after each start of the server, and after a crash
  // How many times a collection of a node was made another index's: what backends know of the
  // ownership of collections is older then.
  pg_atomic_uint64 owners;
  EngineState engine;
} SharedState;

// Asks the server for the memory. It is for _PG_init() alone.
void request_shared_state(void);

// The memory. Ends with an error where the server has not preloaded the extension.
SharedState* shared_state(void);

// Answers whether the server has preloaded the extension.
bool has_shared_state(void);

#endif
