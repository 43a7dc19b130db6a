// This header has libfarvec.so, which is loaded when a search first needs it.
//
// Backends that only compute with vectors never map it and the gRPC below it, and a server that
// preloads the extension makes none of its threads before it forks.
#ifndef FARVEC_POSTGRES_LIBRARY_H
#define FARVEC_POSTGRES_LIBRARY_H

#include <postgres.h>

#include <portability/instr_time.h>

#include "client/c/farvec.h"

// Functions of farvec.h that the extension calls, by their names without the prefix.
#define FARVEC_LIBRARY_FUNCTIONS(each)                                                            \
  each(version) each(connect) each(close) each(describe) each(state) each(text_free) each(search) \
      each(results_count) each(results_ids) each(results_distances) each(results_attributes)      \
          each(results_coverage) each(results_counts) each(results_free) each(cursor_open)        \
              each(cursor_next) each(cursor_free) each(insert) each(erase) each(erase_matching)   \
                  each(get) each(list) each(rows_count) each(rows_found) each(rows_id)            \
                      each(rows_attributes) each(rows_vector) each(rows_matches) each(rows_free)

#define FARVEC_LIBRARY_MEMBER(name) __typeof__(farvec_##name)* name;
typedef struct Library {
  FARVEC_LIBRARY_FUNCTIONS(FARVEC_LIBRARY_MEMBER)
} Library;
#undef FARVEC_LIBRARY_MEMBER

// The loaded library. Ends with an error where it is not there, or is of another version.
const Library* library(void);

// How long a function of SQL may take, with all its calls of the library.
typedef struct Patience {
  uint32_t deadline_ms;
  instr_time began;
  // A cancelled query ends a call at once. What else the server wants of this backend ends a call
  // from this moment on, so that a call that is repeated for that comes to its end.
  double gives_way_at_ms;
  bool gave_way;
} Patience;

// Begins now.
Patience patience_for(uint32_t deadline_ms);

// A wait of one call, for the time that is left, also of the statement (statement_timeout) and half
// a second more; at least 1 ms. It ends early as soon as there are
// interrupts to be taken care of. It refers to the patience.
farvec_wait wait_of(Patience* patience);

// Tells after a call whether it only ended for interrupts, which then are taken care of, so that it
// has to be repeated. Ends with an error where the query was cancelled.
bool is_to_repeat(Patience* patience, farvec_status status);

// Ends with the error of a call that did not return FARVEC_OK. `node` is its address.
void raise_library_error(const farvec_error* error, const char* node, const Patience* patience);

#endif
