// Where an index lies in the server's engine: the options of CREATE INDEX ... WITH (...) that say
// it, and telling it. The engine checks them again.
#include <postgres.h>

#include "postgres/index/placing.h"

#include <access/genam.h>
#include <miscadmin.h>
#include <tcop/pquery.h>
#include <utils/guc.h>
#include <utils/json.h>
#include <utils/rel.h>

#include "postgres/channel/requests.h"

#define NODE_HINT "Serve the index from a compute node: WITH (node = 'host:port')."
#define TIERS "dram, shm, numa:NODE, emulated:MODEL and ssd"
#define LAYOUTS "csr, packed, inline and slotted"
#define NOTICE_DEADLINE_MS 1000

StaticAssertDecl(FARVEC_TIER_BYTES == ASK_TIER_BYTES && FARVEC_DEVICE_BYTES == ASK_DEVICE_BYTES,
                 "texts of places have one size");

typedef struct LayoutWord {
  const char* word;
  uint32 number;
} LayoutWord;

static const LayoutWord layouts[] = {
    {"csr", kAskCsr}, {"packed", kAskPacked}, {"inline", kAskInline}, {"slotted", kAskSlotted}};

// Those of clusters, which the engine has none of.
static const char* const other_layouts[] = {"coupled",        "decoupled", "grouped",
                                            "grouped-inline", "coded",     "padded"};

// Whether a text is the word, or begins with the word and a colon.
static bool names(const char* text, const char* word) {
  const size_t length = strlen(word);
  return strncmp(text, word, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

static bool is_elsewhere(const char* tier) {
  static const char* const words[] = {"file", "devdax", "pmem", "verbs", "fabric"};
  for (size_t i = 0; i < lengthof(words); i++) {
    if (names(tier, words[i])) return true;
  }
  return strncmp(tier, "verbs,", strlen("verbs,")) == 0 ||
         strncmp(tier, "ssd:", strlen("ssd:")) == 0;
}

static bool is_tier(const char* tier) {
  const bool is_numa = strncmp(tier, "numa:", strlen("numa:")) == 0;
  if (is_numa) {
    const char* node = tier + strlen("numa:");
    return *node != '\0' && strspn(node, "0123456789") == strlen(node);
  }
  if (strncmp(tier, "emulated:", strlen("emulated:")) == 0) return true;
  return strcmp(tier, "dram") == 0 || strcmp(tier, "shm") == 0 || strcmp(tier, "ssd") == 0;
}

void check_tier(const char* tier) {
  if (tier == NULL || *tier == '\0') return;
  if (is_elsewhere(tier)) {
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("the engine's indexes cannot lie on tier \"%s\"", tier),
             errdetail("It holds one file, or is on another machine. The engine has " TIERS "."),
             errhint(NODE_HINT)));
  }
  if (strlen(tier) >= FARVEC_TIER_BYTES) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the word of a tier has at most %d bytes", FARVEC_TIER_BYTES - 1)));
  }
  if (!is_tier(tier)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no tier is \"%s\"", tier),
                    errhint("There are " TIERS ". A MODEL is rdma, cxl, nvm, ssd, or numbers as in "
                            "latency=5us,bandwidth=10GB/s,rate=50M/s.")));
  }
}

static const LayoutWord* layout_of(const char* word) {
  for (size_t i = 0; i < lengthof(layouts); i++) {
    if (strcmp(word, layouts[i].word) == 0) return &layouts[i];
  }
  return NULL;
}

void check_layout(const char* word) {
  if (word == NULL || *word == '\0' || layout_of(word) != NULL) return;
  for (size_t i = 0; i < lengthof(other_layouts); i++) {
    if (strcmp(word, other_layouts[i]) != 0) continue;
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("the engine's indexes cannot have layout \"%s\"", word),
             errdetail("They are graphs, with the layouts " LAYOUTS "."), errhint(NODE_HINT)));
  }
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no layout is \"%s\"", word),
                  errhint("There are " LAYOUTS ".")));
}

// The bytes of a pool; ends with an error for a text that is none.
static uint64 pool_bytes(const char* text) {
  int kilobytes;
  const char* hint = NULL;
  if (!parse_int(text, &kilobytes, GUC_UNIT_KB, &hint) || kilobytes <= 0) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is no size of a pool", text),
             errhint("Say bytes with a unit, as in '64MB'.")));
  }
  return (uint64)kilobytes * 1024;
}

void check_pool(const char* text) {
  if (text != NULL && *text != '\0') (void)pool_bytes(text);
}

static const char* text_of(const IndexOptions* options, int offset) {
  return offset == 0 ? "" : (const char*)options + offset;
}

static void refuse_with_node(const IndexOptions* options, bool is_given, const char* name) {
  if (!is_given || *text_of(options, options->node) == '\0') return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("%s is for an index in the server's engine, and this one has a node", name),
           errhint("The node's collection has a layout and its node a tier: \"farvec collection "
                   "create --layout\", \"farvec-compute-node --tier\".")));
}

static void refuse_unless(bool holds, const char* message, const char* hint) {
  if (holds) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message), errhint("%s", hint)));
}

void check_placing(const IndexOptions* options) {
  const char* tier = text_of(options, options->tier);
  const char* layout = text_of(options, options->layout);
  const bool has_pool = *text_of(options, options->pool) != '\0';
  const bool is_slotted = strcmp(layout, "slotted") == 0;
  refuse_with_node(options, *tier != '\0', "tier");
  refuse_with_node(options, *layout != '\0', "layout");
  refuse_with_node(options, has_pool, "pool");
  refuse_with_node(options, options->code_bits >= 0, "code_bits");
  refuse_unless(!is_slotted || strcmp(tier, "ssd") == 0, "layout slotted lies on an SSD alone",
                "Say tier = 'ssd' too.");
  refuse_unless(!has_pool || is_slotted, "a pool is for layout slotted",
                "Other layouts read each record from the tier.");
  refuse_unless(options->code_bits != 0 || strcmp(layout, "inline") != 0,
                "layout inline has codes in its records, of at least one bit",
                "Leave code_bits out, or say csr or packed.");
}

StorePlacing placing_of(Relation index) {
  const IndexOptions* options = (const IndexOptions*)index->rd_options;
  StorePlacing placing;
  memset(&placing, 0, sizeof placing);  // its bytes are compared
  if (options == NULL) return placing;
  strlcpy(placing.tier, text_of(options, options->tier), sizeof placing.tier);
  const LayoutWord* layout = layout_of(text_of(options, options->layout));
  placing.layout = layout == NULL ? kAskUsualLayout : layout->number;
  placing.code_bits = (uint32)(options->code_bits + 1);
  const char* pool = text_of(options, options->pool);
  if (*pool != '\0') placing.pool_bytes = pool_bytes(pool);
  return placing;
}

static const char* word_of_layout(uint32 number) {
  for (size_t i = 0; i < lengthof(layouts); i++) {
    if (layouts[i].number == number) return layouts[i].word;
  }
  return "csr";
}

static void append_field(StringInfo text, const char* name, const char* value) {
  appendStringInfo(text, ", \"%s\": ", name);
  if (*value == '\0') {
    appendStringInfoString(text, "null");
  } else {
    escape_json(text, value);
  }
}

void append_place(StringInfo text, const StorePlace* place) {
  append_field(text, "tier", place->tier);
  append_field(text, "modelled", place->device);
  append_field(text, "layout", word_of_layout(place->layout));
  if (place->code_bits > 0) appendStringInfo(text, ", \"code_bits\": %u", place->code_bits - 1);
  appendStringInfo(text,
                   ", \"segments\": %u, \"loaded\": " UINT64_FORMAT ", \"pool\": " UINT64_FORMAT
                   ", \"pool_used\": " UINT64_FORMAT,
                   place->segments, place->loaded, place->pool, place->pool_used);
}

// An EXPLAIN that a client sends is what its portal runs.
static bool is_explained(void) {
  return ActivePortal != NULL && ActivePortal->commandTag == CMDTAG_EXPLAIN;
}

static void tell_of(Relation index) {
  const StorePlacing placing = placing_of(index);
  if (node_of(index) != NULL || strncmp(placing.tier, "emulated:", strlen("emulated:")) != 0)
    return;
  const StatusMeta meta = status_meta(index);
  const StoreIdentity identity = identity_of(index, &meta);
  StoreColumns columns;
  StorePlace place = {.tier = ""};
  Patience patience = patience_for(NOTICE_DEADLINE_MS);
  farvec_error error;
  read_columns(index, &columns);
  Store* store =
      kEngineStore.open(&identity, &meta.shape, &columns, NULL, index->rd_rel->relowner, &patience);
  kEngineStore.lie(store, &placing);
  const bool is_known = kEngineStore.place(store, &place, &patience, &error);
  ereport(NOTICE,
          (errmsg("index \"%s\" lies on a modelled device: %s", RelationGetRelationName(index),
                  is_known && *place.device != '\0' ? place.device : placing.tier),
           errdetail("Times of its scans are those of the model.")));
}

void tell_model(Oid relation) {
  if (!is_explained()) return;
  Relation index = index_open(relation, NoLock);
  if (index->rd_indam->ambuild == farvec_build) tell_of(index);
  index_close(index, NoLock);
}
