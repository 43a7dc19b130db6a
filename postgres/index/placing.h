// This header has where an index lies in the server's engine.
#ifndef FARVEC_POSTGRES_INDEX_PLACING_H
#define FARVEC_POSTGRES_INDEX_PLACING_H

#include <postgres.h>

#include <lib/stringinfo.h>

#include "postgres/index/index.h"

// Each ends with an error for a text that its option cannot have.
void check_tier(const char* tier);
void check_layout(const char* word);
void check_pool(const char* text);
// Ends with an error for options that do not go together.
void check_placing(const IndexOptions* options);

// Appends fields of an object of JSON, after others.
void append_place(StringInfo text, const StorePlace* place);

// In an EXPLAIN of a plan with this index: says that the tier of the index is modelled, if it is.
void tell_model(Oid relation);

#endif
