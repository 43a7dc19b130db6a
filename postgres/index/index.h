// This header has what all parts of the access method share: classes of operators, options,
// settings, and an index with its store.
#ifndef FARVEC_POSTGRES_INDEX_INDEX_H
#define FARVEC_POSTGRES_INDEX_INDEX_H

#include <postgres.h>

#include <access/amapi.h>
#include <access/genam.h>
#include <nodes/execnodes.h>
#include <utils/relcache.h>

#include "postgres/index/columns.h"
#include "postgres/index/status.h"
#include "postgres/index/store.h"

// The phase of a build that follows PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE.
#define FARVEC_PHASE_STORE 2

// What a class of operators is for. Its support function 1 answers it.
typedef struct IndexClass {
  int32 type;    // a farvec_type
  int32 metric;  // a farvec_metric
} IndexClass;

// Options in WITH. `m` and `ef_construction` are pgvector's names.
typedef struct IndexOptions {
  int32 vl_len_;
  int node;  // where its text begins; 0: none
  int degree;
  int m;
  int build_list;
  int ef_construction;
  int tier;
  int layout;
  int pool;
  int code_bits;  // -1: not given
} IndexOptions;

// An index that is used, with its store.
typedef struct OpenIndex {
  Relation relation;
  StatusMeta meta;       // when the index was opened
  StoreColumns columns;  // after the vector
  const StoreKind* kind;
  Store* store;
  Patience patience;
} OpenIndex;

// Settings.
extern int farvec_search_list;
extern bool farvec_iterative_scan;
void define_index_settings(void);

// ---- Classes and options (class.c, options.c) ----

const IndexClass* class_of(Relation index);
// The shape of a new index. Ends with an error where the column has no dimensions.
StoreShape shape_of(Relation index);
bytea* index_options(Datum options, bool validate);
void define_index_options(void);
// The address in WITH (node = ...), or NULL.
const char* node_of(Relation index);
// Where it is to lie in the server's engine (placing.c).
StorePlacing placing_of(Relation index);

// ---- Values (value.c) ----

Size vector_size(const StoreShape* shape);  // bytes that a store takes for a vector

// Writes a value as a store takes it. Ends with an error where it is of another dimension. Answers
// the vector's length, the root of its squares; for bits, of its elements.
double write_vector(Datum value, const StoreShape* shape, void* to);

// Answers whether a store compares vectors of this length as SQL does.
bool can_be_compared(const StoreShape* shape, double length);
// Flags of the entry of such a vector: 0 or FARVEC_UNFIT.
uint32 kind_of_vector(const StoreShape* shape, double length);

// ---- Stores (kinds.c) ----

// Which kind of store an index has; `node` is NULL for the server's engine.
const StoreKind* store_kind(const char* node);
// Ends with the error of a store that answered false.
void raise_store_error(const farvec_error* error, const char* node, const Patience* patience);
StoreIdentity identity_of(Relation index, const StatusMeta* meta);
// Opens an index and its store.
void open_index(OpenIndex* index, Relation relation, uint32 deadline_ms);

// ---- Telling the store (deliver.c) ----

// Locks of an index have the tags of rows, which it has none of.
static inline ItemPointerData lock_tag(OffsetNumber number) {
  ItemPointerData tag;
  ItemPointerSet(&tag, 0, number);
  return tag;
}

// While rows are given VIDs and their vectors to the store, backends hold this lock in ShareLock.
// ExclusiveLock waits for all of them.
void lock_delivery(Relation index, int mode);
void unlock_delivery(Relation index, int mode);

// Writes entries for rows, and tells their vectors to the store. A store that cannot take them is
// noted in the meta page. With `must_tell` that is an error.
typedef struct Delivery {
  Relation relation;
  StatusMeta meta;
  size_t count;  // rows that wait
  size_t room;   // rows
  Size bytes;    // one vector's
  StatusEntry* entries;
  uint64* vids;
  char* vectors;              // one place for each row
  SubTransactionId* origins;  // who inserted each row
  StoreColumns columns;
  TupleList tuples;  // the values of those columns
  // What the rows that are waiting bring.
  uint32 kinds;
  double longest;
  size_t stored;    // rows that have entries, and of which the store is to be told
  bool is_writing;  // an error ended the writing of entries
  bool is_again;    // former versions of some of these rows have the same vectors
} Delivery;

Delivery* make_delivery(Relation index, size_t room);
// Adds a row. `is_full` tells then that the rows have to be sent.
void add_row(Delivery* delivery, const Datum* values, const bool* nulls, ItemPointer tid);
static inline bool is_full(const Delivery* delivery) {
  return delivery->count == delivery->room;
}
// Makes room for more rows.
void grow(Delivery* delivery, size_t room);
// Forgets rows of this subtransaction and later ones.
void forget_rows_of(Delivery* delivery, SubTransactionId first);
// Forgets all rows, and those of which the store is to be told.
void forget_all_rows(Delivery* delivery);
// Sends them in a build: an error where the store cannot take them.
void send_in_build(Delivery* delivery, OpenIndex* index);
// Sends them in an insert, which succeeds without the store.
void send_in_insert(Delivery* delivery);

// Rows in a batch, which maintenance_work_mem limits.
size_t batch_rows(const StoreShape* shape);

// ---- Catching up (catch_up.c) ----

// Answers whether the store had everything when this backend asked last, as a search then affirms.
bool was_complete(const OpenIndex* index);
// Sees to it that the store has everything. Ends with an error where that cannot be. May wait long.
void ensure_complete(OpenIndex* index, Relation heap);

// ---- What an access method is (handler.c) ----

IndexBuildResult* farvec_build(Relation heap, Relation index, IndexInfo* info);
void farvec_build_empty(Relation index);
bool farvec_insert_row(Relation index, Datum* values, bool* nulls, ItemPointer tid, Relation heap,
                       IndexUniqueCheck unique, bool unchanged, IndexInfo* info);
IndexBulkDeleteResult* farvec_bulk_delete(IndexVacuumInfo* info, IndexBulkDeleteResult* result,
                                          IndexBulkDeleteCallback callback, void* state);
IndexBulkDeleteResult* farvec_vacuum_cleanup(IndexVacuumInfo* info, IndexBulkDeleteResult* result);
void farvec_cost(struct PlannerInfo* root, struct IndexPath* path, double loops, Cost* startup,
                 Cost* total, Selectivity* selectivity, double* correlation, double* pages);
IndexScanDesc farvec_begin_scan(Relation index, int keys, int order_bys);
void farvec_rescan(IndexScanDesc scan, ScanKey keys, int key_count, ScanKey order_bys,
                   int order_by_count);
bool farvec_next(IndexScanDesc scan, ScanDirection direction);
void farvec_end_scan(IndexScanDesc scan);
bool farvec_validate(Oid class);

// Gives a path that orders the clauses on columns after the vector that the planner left out
// (clauses.c).
void add_clauses(struct PlannerInfo* root, struct IndexPath* path);

// From now on plans leave out distances that only order (plan.c). Once in a process.
void watch_plans(void);
// Has EXPLAIN (ANALYZE) say what scans did, where PostgreSQL lets it.
void watch_explain(void);

#endif
