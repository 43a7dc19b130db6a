// farvec.h is the C interface of a compute node's clients: it connects, searches, reads and
// changes.
//
// Handles: those who get one free it with the function that its comment names. What a handle gives
// out lives as long as the handle.
//
// Structs: a struct whose first member is `size` grows at its end. The caller sets `size` to its
// sizeof and all else to zero, and then the members that it wants. Zero is the usual value of each.
//
// Status: functions return FARVEC_OK or say in `error`, which may be NULL, what was wrong. What
// they return through other pointers is then zero or NULL, unless their comment says otherwise.
//
// Memory: all that a caller passes is copied, and may be freed when the function has returned.
//
// Threads: any thread may call everything. A connection does one call after the other. Threads of
// the library take no signals. A process that was made by fork() cannot use connections of its
// parent; all calls but farvec_close() then return FARVEC_FAILED_PRECONDITION.
//
// No exception leaves a function. docs/use/c.md has a whole program.
#ifndef FARVEC_H
#define FARVEC_H

#include <stddef.h>
#include <stdint.h>

#define FARVEC_VERSION "0.1.0"

#if defined(__GNUC__)
#define FARVEC_API __attribute__((visibility("default")))
#else
#define FARVEC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The numbers are gRPC's. farvec uses these codes alone.
typedef enum farvec_status {
  FARVEC_OK = 0,
  FARVEC_CANCELLED = 1,         // the caller has given up
  FARVEC_INVALID_ARGUMENT = 3,  // the message names what is wrong
  FARVEC_DEADLINE_EXCEEDED = 4,
  FARVEC_NOT_FOUND = 5,
  FARVEC_PERMISSION_DENIED = 7,
  FARVEC_RESOURCE_EXHAUSTED = 8,   // too much for the node, or for this machine's memory
  FARVEC_FAILED_PRECONDITION = 9,  // the node or the process is not one that can do it
  FARVEC_INTERNAL = 13,
  FARVEC_UNAVAILABLE = 14,  // nothing answers, or nothing is served; it may pass
  FARVEC_DATA_LOSS = 15
} farvec_status;

typedef enum farvec_type {
  FARVEC_F32 = 0,
  FARVEC_F16 = 1,
  FARVEC_U8 = 2,
  FARVEC_I8 = 3,
  FARVEC_B1 = 4  // bits: element i is bit i % 8 of byte i / 8, bit 0 the least significant one
} farvec_type;

// Smaller is nearer for each of them.
typedef enum farvec_metric {
  FARVEC_L2 = 0,             // squared
  FARVEC_INNER_PRODUCT = 1,  // minus the product
  FARVEC_COSINE = 2,         // one minus the cosine
  FARVEC_HAMMING = 3,        // elements that differ
  FARVEC_JACCARD = 4         // one minus the share of common elements
} farvec_metric;

// It is in no row: an id in place of a result that is not there.
#define FARVEC_NO_ID UINT64_MAX

// An error is the caller's own memory and needs no freeing. Every call that has one fills it in.
typedef struct farvec_error {
  int32_t status;      // a farvec_status
  char message[1020];  // UTF-8, ends with a zero; empty where the status is FARVEC_OK
} farvec_error;

// A wait says how long a call may take, and what ends it early. NULL in place of one is a wait
// without members set.
typedef struct farvec_wait {
  size_t size;
  uint32_t deadline_ms;  // for the whole call, with all of its attempts; 0: 10 s
  // Is called on the thread that waits, before the call and then at least every 20 ms, until it
  // returns another number than 0: that ends the wait with FARVEC_CANCELLED. It has to return, and
  // may not use the connection. NULL: nothing interrupts.
  int (*interrupted)(void* context);
  void* context;  // what `interrupted` gets
} farvec_wait;

// Vectors that the caller owns: rows without gaps, as many elements in each as `dimension` says.
typedef struct farvec_vectors {
  const void* data;  // needs no alignment; may be NULL where count is 0
  size_t count;
  uint32_t dimension;
  int32_t type;  // a farvec_type
} farvec_vectors;

typedef struct farvec_connection farvec_connection;
typedef struct farvec_results farvec_results;
typedef struct farvec_cursor farvec_cursor;
typedef struct farvec_rows farvec_rows;

// Returns the version of the library, as FARVEC_VERSION is that of the header.
FARVEC_API const char* farvec_version(void);
// Returns "NOT_FOUND" for FARVEC_NOT_FOUND, and "UNKNOWN" for numbers that are none of the codes.
FARVEC_API const char* farvec_status_name(int32_t status);

// ---- Connections ----

typedef struct farvec_connect_options {
  size_t size;
  const char* address;  // "HOST:PORT" or "unix:/path"
  // PEM files for TLS: all three, or none.
  const char* tls_certificate;
  const char* tls_key;
  const char* tls_authority;
  // Attempts at each call after the first one, where the node says that it is busy or not there.
  uint32_t retries;
} farvec_connect_options;

// Connects to a compute node. FARVEC_UNAVAILABLE: nothing answers there, or it serves nothing now.
// FARVEC_FAILED_PRECONDITION: this process was made by fork() from one that had connected.
FARVEC_API farvec_status farvec_connect(const farvec_connect_options* options,
                                        const farvec_wait* wait, farvec_connection** connection,
                                        farvec_error* error);

// Ends calls that other threads wait for, with FARVEC_CANCELLED, and frees the connection. No
// thread may begin a call with it any more. Cursors of it stay, and can only be freed. NULL does
// nothing.
FARVEC_API void farvec_close(farvec_connection* connection);

typedef struct farvec_description {
  size_t size;
  uint64_t count;  // vectors that are served
  uint32_t dimension;
  int32_t type;         // queries and rows to insert have this farvec_type
  int32_t stored_type;  // rows that are read have this one
  int32_t metric;       // a farvec_metric
  uint32_t max_k;       // the most that a search may ask for
  uint32_t max_list;
  uint32_t max_probe;  // clusters that a search may probe; 0 for other indexes
  int32_t own_ids;     // 1: rows have ids of their users, and may change; 0: ids are row numbers
} farvec_description;

// Asks the node what it serves.
FARVEC_API farvec_status farvec_describe(farvec_connection* connection, const farvec_wait* wait,
                                         farvec_description* description, farvec_error* error);

// Asks the node for all that it says of itself: a JSON object with the names that `describe()` has
// in Python. farvec_text_free() frees the text.
FARVEC_API farvec_status farvec_state(farvec_connection* connection, const farvec_wait* wait,
                                      char** json, farvec_error* error);
FARVEC_API void farvec_text_free(char* text);

// ---- Searches ----

// Flags of a search.
#define FARVEC_EXACT 1u       // compare the query with all rows
#define FARVEC_PARTIAL 2u     // go on without records that no memory node can deliver
#define FARVEC_CANDIDATES 4u  // do not rank again by a second copy of the vectors
#define FARVEC_WITHIN 8u      // results are no farther than `within`

typedef struct farvec_search_options {
  size_t size;
  uint32_t k;         // results of each query; 0: 10, with FARVEC_WITHIN 1,000
  uint32_t list;      // candidates of a graph; 0: 64, or k where that is more
  uint32_t width;     // records of a graph that are asked for together; 0: 1
  uint32_t probe;     // clusters to look into; 0: 16
  float prune_ratio;  // leave out clusters this many times as far as the nearest; 0: none
  uint32_t refine;    // times k that a second copy ranks again; 0: the whole list
  uint32_t flags;
  float within;
  const char* filter;  // a condition on the attributes (docs/use/filters.md); NULL: none
  // Columns that come with the results.
  const char* const* columns;
  size_t column_count;
} farvec_search_options;

// Searches for the nearest rows of each query. `options` may be NULL. farvec_results_free() frees
// the results. FARVEC_INVALID_ARGUMENT: another dimension or type than the node's, NaN, a number
// that the node does not allow, a condition or a column that cannot be.
FARVEC_API farvec_status farvec_search(farvec_connection* connection, const farvec_vectors* queries,
                                       const farvec_search_options* options,
                                       const farvec_wait* wait, farvec_results** results,
                                       farvec_error* error);

// Returns how many queries the results are of; 0 of NULL.
FARVEC_API size_t farvec_results_queries(const farvec_results* results);
// Returns how many rows were found for a query, at most k; 0 of a query that is not there.
FARVEC_API size_t farvec_results_count(const farvec_results* results, size_t query);
// Return the ids and the distances of these rows, nearest first; NULL of a query that is not there.
FARVEC_API const uint64_t* farvec_results_ids(const farvec_results* results, size_t query);
FARVEC_API const float* farvec_results_distances(const farvec_results* results, size_t query);
// Returns the selected columns of one of these rows, a JSON object; NULL where none were selected.
FARVEC_API const char* farvec_results_attributes(const farvec_results* results, size_t query,
                                                 size_t row);
// Returns 1 where every record came that the searches asked for, else the least share that could be
// read.
FARVEC_API double farvec_results_coverage(const farvec_results* results);

// What the searches of all queries did. The counts are the same for the same index and options.
typedef struct farvec_counts {
  size_t size;
  uint64_t hops;
  uint64_t reads;  // reads of records, one or several near each other
  uint64_t bytes;  // bytes of these reads
  uint64_t cache_hits;
  uint64_t estimates;  // distances estimated from codes
  uint64_t distances;  // exact distances
  uint64_t lost;       // reads that no memory node could deliver
  uint64_t clusters;   // probed
  uint64_t matches;    // rows that meet the filter
  uint64_t walks;      // graphs that were walked
  uint64_t scans;      // graphs of which the rows that match were compared one by one
  uint64_t rerank_reads;
} farvec_counts;

FARVEC_API farvec_status farvec_results_counts(const farvec_results* results, farvec_counts* counts,
                                               farvec_error* error);
FARVEC_API void farvec_results_free(farvec_results* results);

// ---- Cursors ----

// Opens a cursor, which gives the rows nearest to one query, batch after batch, until the caller
// stops or there are no more. `options` is as in a search, but k is 0; list and probe are those of
// the first search, and grow. `options` may be NULL. farvec_cursor_free() frees the cursor. Nothing
// is asked of the node yet.
FARVEC_API farvec_status farvec_cursor_open(farvec_connection* connection,
                                            const farvec_vectors* query,
                                            const farvec_search_options* options,
                                            farvec_cursor** cursor, farvec_error* error);

// Gives the next rows, `count` of them or all that are left: results of one query, without rows at
// the end. No row comes twice. A row that is found late may be nearer than rows before it. A call
// that failed or was given up can be repeated, and no row is lost. farvec_results_free() frees the
// rows. FARVEC_RESOURCE_EXHAUSTED: there may be more rows, and the node allows no longer search.
FARVEC_API farvec_status farvec_cursor_next(farvec_cursor* cursor, size_t count,
                                            const farvec_wait* wait, farvec_results** rows,
                                            farvec_error* error);
FARVEC_API void farvec_cursor_free(farvec_cursor* cursor);

// ---- Changes, where description.own_ids is 1 ----
//
// After FARVEC_CANCELLED, FARVEC_DEADLINE_EXCEEDED and FARVEC_UNAVAILABLE, a change may be in, in
// part or not. To repeat it is safe. `receipt` may be NULL.

typedef struct farvec_receipt {
  size_t size;
  uint64_t version;   // the number of the last change
  uint64_t done;      // rows inserted, or rows that were there and are erased or updated
  uint64_t replaced;  // rows inserted whose ids were there
  uint64_t missing;   // ids to erase or to update that were not there
} farvec_receipt;

// Inserts rows; those whose ids are there take the others' place. There are as many ids as rows,
// each once, none of them FARVEC_NO_ID. `attributes` has a JSON object for each row, whose missing
// columns are null, or NULL for a row that is null in all; it may be NULL itself. Rows go in
// batches, each whole: after an error the receipt counts those that are in.
FARVEC_API farvec_status farvec_insert(farvec_connection* connection, const farvec_vectors* rows,
                                       const uint64_t* ids, const char* const* attributes,
                                       const farvec_wait* wait, farvec_receipt* receipt,
                                       farvec_error* error);

// Erases the rows with these ids.
FARVEC_API farvec_status farvec_erase(farvec_connection* connection, const uint64_t* ids,
                                      size_t count, const farvec_wait* wait,
                                      farvec_receipt* receipt, farvec_error* error);
// Erases the rows that meet a condition; "true" means every row.
FARVEC_API farvec_status farvec_erase_matching(farvec_connection* connection, const char* filter,
                                               const farvec_wait* wait, farvec_receipt* receipt,
                                               farvec_error* error);

// Gives rows new values in the columns that the objects name, and leaves their vectors and other
// columns as they are. `attributes` has a JSON object for each id, all of which name the same
// columns.
FARVEC_API farvec_status farvec_update(farvec_connection* connection, const uint64_t* ids,
                                       size_t count, const char* const* attributes,
                                       const farvec_wait* wait, farvec_receipt* receipt,
                                       farvec_error* error);
// Does so for the rows that meet a condition, with one object for all.
FARVEC_API farvec_status farvec_update_matching(farvec_connection* connection, const char* filter,
                                                const char* attributes, const farvec_wait* wait,
                                                farvec_receipt* receipt, farvec_error* error);

// Returns when all that was inserted before lies in segments. FARVEC_DEADLINE_EXCEEDED and
// FARVEC_CANCELLED end the wait, and not the work.
FARVEC_API farvec_status farvec_flush(farvec_connection* connection, const farvec_wait* wait,
                                      farvec_error* error);
// Does so, and makes one segment of all, without the rows that are out.
FARVEC_API farvec_status farvec_compact(farvec_connection* connection, const farvec_wait* wait,
                                        farvec_error* error);

// ---- Reading rows, where description.own_ids is 1 ----

// Reads rows by their ids. farvec_rows_free() frees them.
FARVEC_API farvec_status farvec_get(farvec_connection* connection, const uint64_t* ids,
                                    size_t count, const farvec_wait* wait, farvec_rows** rows,
                                    farvec_error* error);
// Lists rows that meet a condition in the order of their ids, at most `most` and from the id `from`
// on, without their vectors. `filter` may be NULL: every row meets it. farvec_rows_free() frees
// them.
FARVEC_API farvec_status farvec_list(farvec_connection* connection, const char* filter,
                                     uint64_t from, size_t most, const farvec_wait* wait,
                                     farvec_rows** rows, farvec_error* error);

// Returns how many ids were asked for, or how many rows are listed; 0 of NULL.
FARVEC_API size_t farvec_rows_count(const farvec_rows* rows);
// Returns 1 where the row was found, else 0.
FARVEC_API int farvec_rows_found(const farvec_rows* rows, size_t row);
// Returns the id of a row; FARVEC_NO_ID of one beyond the last.
FARVEC_API uint64_t farvec_rows_id(const farvec_rows* rows, size_t row);
// Returns the vector of a row in the node's stored type; NULL where it was not found or is listed.
FARVEC_API const void* farvec_rows_vector(const farvec_rows* rows, size_t row);
// Returns the attributes of a row, a JSON object; NULL where it was not found or there are none.
FARVEC_API const char* farvec_rows_attributes(const farvec_rows* rows, size_t row);
// Returns how many rows meet the condition of a list, whatever their ids.
FARVEC_API uint64_t farvec_rows_matches(const farvec_rows* rows);
// Returns 1 where rows with greater ids than the last one meet the condition of a list too.
FARVEC_API int farvec_rows_more(const farvec_rows* rows);
FARVEC_API void farvec_rows_free(farvec_rows* rows);

#ifdef __cplusplus
}
#endif

#endif  // FARVEC_H
