// This header has libfarvec.so, which is loaded when a search first needs it.
//
// Backends that only compute with vectors never map it and the gRPC below it, and a server that
// preloads the extension makes none of its threads before it forks.
#ifndef FARVEC_POSTGRES_LIBRARY_H
#define FARVEC_POSTGRES_LIBRARY_H

#include "client/c/farvec.h"

// Functions of farvec.h that the extension calls, by their names without the prefix.
#define FARVEC_LIBRARY_FUNCTIONS(each)                                                            \
  each(version) each(connect) each(close) each(describe) each(state) each(text_free) each(search) \
      each(results_count) each(results_ids) each(results_distances) each(results_attributes)      \
          each(results_coverage) each(results_free)

#define FARVEC_LIBRARY_MEMBER(name) __typeof__(farvec_##name)* name;
typedef struct Library {
  FARVEC_LIBRARY_FUNCTIONS(FARVEC_LIBRARY_MEMBER)
} Library;
#undef FARVEC_LIBRARY_MEMBER

// The loaded library. Ends with an error where it is not there, or is of another version.
const Library* library(void);

// A wait of a call of the library that ends as soon as the query is cancelled or the backend is to
// end.
farvec_wait wait_of(uint32_t deadline_ms);

// Ends with the error of a call that did not return FARVEC_OK. `node` is its address.
void raise_library_error(const farvec_error* error, const char* node, uint32_t deadline_ms);

#endif
