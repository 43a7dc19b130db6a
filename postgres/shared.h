// This header has the memory that all processes of a server share, which the server makes when it
// preloads the extension.
#ifndef FARVEC_POSTGRES_SHARED_H
#define FARVEC_POSTGRES_SHARED_H

#include <postgres.h>

typedef struct SharedState {
  uint64 start;  // random; another one after each start of the server, and after a crash
} SharedState;

// Asks the server for the memory. It is for _PG_init() alone.
void request_shared_state(void);

// The memory. Ends with an error where the server has not preloaded the extension.
SharedState* shared_state(void);

// Answers whether the server has preloaded the extension.
bool has_shared_state(void);

#endif
