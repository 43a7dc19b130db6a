// This header has a scan of an index.
#ifndef FARVEC_POSTGRES_INDEX_SCAN_H
#define FARVEC_POSTGRES_INDEX_SCAN_H

#include <postgres.h>

#include <access/relscan.h>

#include "postgres/index/given.h"
#include "postgres/index/index.h"

// What a scan gives, one after the other. A scan without a query begins with the second.
typedef enum ScanStep {
  kAsking,  // rows that the store finds, nearest first
  kRest,    // rows that it did not find, and those that no store holds
  kNulls,
  kOver
} ScanStep;

// What the last scan of a backend did.
typedef struct ScanReport {
  Oid index;
  uint64 batches;
  uint64 found;  // VIDs that the store gave
  uint64 dead;   // those whose rows are gone
  uint64 rest;   // rows that the store did not give
  uint64 nulls;
  uint32 keys;    // conditions on columns after the vector
  uint32 handed;  // those that the store was given
  farvec_counts counts;
} ScanReport;

extern ScanReport last_scan;

// One of the numbers of a report, for readers.
typedef struct ScanNumber {
  const char* name;
  uint64 value;
  bool is_known;
} ScanNumber;

#define FARVEC_SCAN_NUMBERS 15
void scan_numbers(const ScanReport* report, ScanNumber numbers[FARVEC_SCAN_NUMBERS]);

// What all runs of a scan did that have ended, and the one that has not. A scan on the inner side
// of a join runs many times.
ScanReport report_of_scan(IndexScanDesc scan);

typedef struct Rest Rest;

typedef struct FarvecScan {
  OpenIndex index;
  ScanStep step;
  bool has_query;         // and it can be compared
  bool is_null;           // the query is null: so is each distance
  char* query;            // in the store's form
  double query_length;    // the root of its squares
  MemoryContext context;  // has this struct and all that it refers to
  ScanReport report;
  Condition condition;
  StoreSearch* search;
  StoreFound* found;  // the batch, `room` long
  size_t room;
  size_t count;
  size_t place;
  size_t batch;  // rows to ask for next
  Given* given;
  bool has_all;      // the store gave all rows that it has and that can meet the condition
  Rest* rest;        // NULL: the rest comes in the order of the pages
  StatusPage* page;  // for the last steps
  BlockNumber next_block;
  uint32 entry;
} FarvecScan;

// A number that is not greater than what SQL computes for a row that the store finds at this
// distance; minus infinity where nothing is known.
double lower_bound(const FarvecScan* scan, float distance);

// Sorts the rows that were not given yet, without null ones. They are read with the scan's
// snapshot.
void sort_rest(FarvecScan* own, IndexScanDesc scan);
// The next of these rows; false after the last.
bool next_of_rest(FarvecScan* own, ItemPointer tid, double* distance);
void end_rest(FarvecScan* own);

#endif
