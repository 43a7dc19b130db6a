// The options of CREATE INDEX ... WITH (...), and the settings of scans.
#include <postgres.h>

#include <access/reloptions.h>
#include <utils/guc.h>
#include <utils/rel.h>

#include "postgres/connections.h"
#include "postgres/index/index.h"
#include "postgres/index/placing.h"

#define MAX_DEGREE 1024
#define MAX_BUILD_LIST 10000
#define MAX_CODE_BITS 8
#define MAX_SEARCH_LIST 100000
#define USUAL_SEARCH_LIST 64

int farvec_search_list = USUAL_SEARCH_LIST;
bool farvec_iterative_scan = true;

static relopt_kind kind;

static void check_node(const char* address) {
  if (address == NULL || *address == '\0') return;
  if (strlen(address) > FARVEC_MAX_ADDRESS) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the address of a compute node has at most %d bytes", FARVEC_MAX_ADDRESS)));
  }
}

static void add_integer(const char* name, const char* text, int most) {
  add_int_reloption(kind, name, text, 0, 0, most, AccessExclusiveLock);
}

void define_index_options(void) {
  kind = add_reloption_kind();
  add_string_reloption(kind, "node", "Address of the compute node that has the vectors", "",
                       check_node, AccessExclusiveLock);
  add_integer("degree", "Neighbours of a vector in the graph", MAX_DEGREE);
  add_integer("m", "Half of degree: pgvector's name", MAX_DEGREE / 2);
  add_integer("build_list", "Candidates of an insert into the graph", MAX_BUILD_LIST);
  add_integer("ef_construction", "build_list: pgvector's name", MAX_BUILD_LIST);
  add_string_reloption(kind, "tier", "Where records lie in the server's engine", "", check_tier,
                       AccessExclusiveLock);
  add_string_reloption(kind, "layout", "How records lie there, when the index is made", "",
                       check_layout, AccessExclusiveLock);
  add_string_reloption(kind, "pool", "Memory for records of slotted pages, as in 64MB", "",
                       check_pool, AccessExclusiveLock);
  add_int_reloption(kind, "code_bits", "Bits of a dimension in codes; 0: there are none", -1, -1,
                    MAX_CODE_BITS, AccessExclusiveLock);
}

static void refuse_both(int one, const char* name, int other, const char* other_name) {
  if (one == 0 || other == 0) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s and %s say the same, and only one may be given", name, other_name)));
}

#define OPTION(name, type) \
  { .optname = #name, .opttype = RELOPT_TYPE_##type, .offset = offsetof(IndexOptions, name) }

bytea* index_options(Datum options, bool validate) {
  static const relopt_parse_elt parsed[] = {
      OPTION(node, STRING),    OPTION(degree, INT),          OPTION(m, INT),
      OPTION(build_list, INT), OPTION(ef_construction, INT), OPTION(tier, STRING),
      OPTION(layout, STRING),  OPTION(pool, STRING),         OPTION(code_bits, INT)};
  IndexOptions* made =
      build_reloptions(options, validate, kind, sizeof(IndexOptions), parsed, lengthof(parsed));
  if (made != NULL && validate) {
    refuse_both(made->degree, "degree", made->m, "m");
    refuse_both(made->build_list, "build_list", made->ef_construction, "ef_construction");
    check_placing(made);
  }
  return (bytea*)made;
}

const char* node_of(Relation index) {
  const IndexOptions* options = (const IndexOptions*)index->rd_options;
  const char* address = options == NULL ? NULL : GET_STRING_RELOPTION(options, node);
  return address == NULL || *address == '\0' ? NULL : address;
}

void define_index_settings(void) {
  DefineCustomIntVariable(
      "farvec.search_list", "Candidates that a scan of an index keeps: more find more.", NULL,
      &farvec_search_list, USUAL_SEARCH_LIST, 1, MAX_SEARCH_LIST, PGC_USERSET, 0, NULL, NULL, NULL);
  DefineCustomBoolVariable("farvec.iterative_scan",
                           "A scan goes on until the statement has all rows that it wants.", NULL,
                           &farvec_iterative_scan, true, PGC_USERSET, 0, NULL, NULL, NULL);
}
