// This header is for catching up alone: which rows a store lacks, reading them, and telling them.
#ifndef FARVEC_POSTGRES_INDEX_MISSING_H
#define FARVEC_POSTGRES_INDEX_MISSING_H

#include <postgres.h>

#include <portability/instr_time.h>

#include "postgres/index/index.h"
#include "postgres/index/rows.h"

// What catching up takes its time for.
typedef enum CatchUpPhase {
  kOpening,    // asking for the store's state, for which an engine opens its files
  kPages,      // reading status pages
  kComparing,  // the store compares them with what it has
  kRows,       // reading rows from the table
  kTelling,    // and telling the store
  kPhases
} CatchUpPhase;

typedef struct MissingRow {
  StatusEntry entry;
  uint64 vid;
} MissingRow;

typedef struct CatchUp {
  OpenIndex* index;
  Relation heap;
  StorePass pass;  // VIDs that may be missing
  // Rows that are missing and not told yet.
  MissingRow* missing;
  size_t missing_count;
  size_t missing_room;
  // A batch of rows with their vectors.
  RowReader* reader;
  size_t count;
  size_t room;
  uint64* vids;
  // The batch before, which the store may still be taking.
  size_t told_count;
  uint64* told_vids;
  char* vectors;
  TupleList tuples;
  StatusPage* page;  // that was looked at last for rows that vacuum removed meanwhile
  // What it did.
  instr_time last;  // when the last phase ended
  double ms[kPhases];
  uint64 pages;
  uint64 told;
} CatchUp;

// Adds the time since the last call to a phase.
void end_phase(CatchUp* work, CatchUpPhase phase);

// Reads all status pages once, and tells the store what it lacks of the pass (missing.c).
void tell_what_lacks(CatchUp* work);

// Tells the rows that are missing, and forgets them (tell.c).
void tell_missing(CatchUp* work);

#endif
