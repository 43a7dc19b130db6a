// This header has the set of VIDs that a scan gave: bits for each page of which one was given.
#ifndef FARVEC_POSTGRES_INDEX_GIVEN_H
#define FARVEC_POSTGRES_INDEX_GIVEN_H

#include <postgres.h>

typedef struct Given Given;

// An empty set in the current memory context.
Given* make_given(void);

// Adds a VID. Answers whether it is new.
bool give(Given* given, uint64 vid);

bool was_given(const Given* given, uint64 vid);

#endif
