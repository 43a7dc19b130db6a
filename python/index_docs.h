// These texts are what help() says of an index in Python.
#pragma once

namespace farvec::python {

inline constexpr const char* kSearchDoc =
    R"(Find the nearest vectors of one query or of many.

Args:
    queries: ``(dimension,)`` or ``(queries, dimension)``, of the element type that the index was
        built from, C-contiguous (else copied, with a warning), finite.
    k: Neighbours wanted, 1 to the number of vectors; None: 10, or as many as there may be.
    list: Candidates kept (L), k to the ``max_list`` of :func:`open`; of clusters of layout
        ``coded``, vectors that are read, others do not heed it; None: 64, or k when that is more, or
        ``max_list`` when that is less. More find more and take longer.
    width: Graphs only: records fetched per hop, 1 to ``max_width``.
    probe: Clusters only: most clusters to search, 1 to ``max_probe``; None: 16, or as many as there
        may be.
    prune_ratio: Clusters only: leave out a cluster whose centroid is more than this many times as
        far away as the nearest one (1 or more); None: keep all.
    partial: Over several memory nodes: go on without records of which no copy is left; see
        ``Result.coverage``.
    exact: Compare each query with all vectors, whatever the other numbers say. It reads all of them.
    within: Results are no farther than this distance, and ``k`` is the most that there are, 1,000
        where it is None. Their number decides how much work it is. The arrays have as many columns
        as the query with the most results needs.
    filter: A condition that all results meet, as :meth:`Collection.search` has it, of an index with
        attributes.
    select: Columns whose values come with the results.
    plan: How a graph is searched among the rows that meet the filter: ``"walk"``, ``"scan"`` (they
        are compared one by one), or ``"chosen"``, whichever takes less. For measurements.
    deadline: Seconds that each query may take, and a wait for other calls.
    refine: Of an index with a second copy (``store=``): how many times k candidates it ranks again,
        at most the list; None: the whole list.
    candidates: Of such an index: results are the candidates themselves, with the distances of the
        index.

Returns:
    Result, whose arrays have one dimension less for one query. The interpreter is free meanwhile;
    Ctrl-C ends a call of more than 256 queries.

Raises:
    InvalidArgument: A shape, type or value that cannot be, NaN and infinity among them.
    DeadlineExceeded: A query took longer than its deadline.
    Unavailable: What the records are read from cannot be reached.
    FailedPrecondition: The index is closed, or was opened before a fork.)";

inline constexpr const char* kChooseDoc =
    R"(Choose how far searches look, for a recall that they are to have.

Args:
    queries: A sample like the queries to come, as :meth:`search` takes them; hundreds are enough.
    k: As in :meth:`search`.
    recall: The share of the true neighbours that the answers to the sample have at least, up to 1.
        What is true is found by an exact search, so this reads all vectors once for each query.
    width, prune_ratio, filter, deadline: As in :meth:`search`.

Returns:
    Arguments for :meth:`search`: ``{"list": 57}``, of clusters ``{"probe": 9}``, and both where
    clusters have codes or a second copy ranks again. So
    ``index.search(queries, 10, **index.choose(sample, 10, recall=0.95))``.

Raises:
    InvalidArgument: As :meth:`search`.
    Error: The recall is out of reach; the message has what was reached.)";

inline constexpr const char* kOpenDoc =
    R"(Open an index for searching.

Args:
    path: Folder of an index, or ``grpc://HOST:PORT`` or ``grpc://unix:/path`` of a compute node.
    tier: Where its records are read from, as ``farvec search --tier`` has it: ``dram``, ``shm``,
        ``numa:NODE``, ``file:PATH``, ``devdax:PATH``, ``pmem:PATH``, ``ssd`` or ``ssd:PATH``,
        ``verbs:ADDRESS``, ``fabric:PROVIDER:ADDRESS``, ``emulated:MODEL`` (``rdma``, ``cxl``,
        ``nvm``, ``ssd``, or ``latency=5us,bandwidth=10GB/s,rate=50M/s``).
    slots: Searches in flight on each thread, 1 to 64; ``"auto"``: 16.
    threads: Threads that share the queries of one call, at most; 0: one per processor.
    concurrency: Calls of Python's threads that search at once; others wait. 0: as many as the
        processors have room for.
    cache_bytes: Of the record cache of each thread, for tiers that are not read in place.
    memory_budget: Tier ssd: bytes (a number, or "512MiB") or a share of the index ("20%") that it
        may keep in memory; None: the tool's default.
    max_list, max_width, max_probe: The largest search that there is room for.
    search, pool, prefetch, page_search, rerank: Slotted pages: as ``farvec search`` has them.
    retries: Of a compute node: times that a call is tried again when the node is too busy.
    tls_ca, tls_certificate, tls_key: Files for nodes that want TLS.
    bitorder: Of queries, where vectors are of bits: ``big`` or ``little``, as numpy.packbits() has it.
    second_tier: Where the second copy of an index with fewer bits than its data is read from; None:
        as ``tier``.

Returns:
    Index. It is closed by ``close()``, or at the end of a ``with`` block.

Raises:
    InvalidArgument: A combination that cannot be.
    Unavailable: The node, or a memory node, cannot be reached.
    Error: The index is not there or damaged, or the tier cannot be opened.)";

}  // namespace farvec::python
