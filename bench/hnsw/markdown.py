"""pgvector's table, as Markdown."""


def cells_of(row):
    recall = f"{row['recall']:.4f}" + (f" (for {row['target']:.2f})" if row["target"] else "")
    pages = row["pages_hit"] + row["pages_read"]
    return [row["buffer"], str(row["ef_search"]), recall, str(row["connections"]),
            f"{row['qps']:,.0f} ({row['qps_min']:,.0f} to {row['qps_max']:,.0f})",
            f"{row['p50_us'] / 1000:.2f}", f"{row['p99_us'] / 1000:.2f}", f"{pages:,.0f}",
            f"{row['pages_read']:,.1f}", f"{100 * row['pages_hit'] / max(pages, 1):.1f}%"]


def page(facts):
    head = ["buffer", "ef_search", "recall", "connections", "queries/s (range)", "p50, ms",
            "p99, ms", "index pages/query", "read", "hits"]
    lines = [f"{facts['workload']}, {facts['rows']:,} x {facts['dimension']} {facts['kind']}: "
             f"PostgreSQL {facts['postgresql']}, pgvector {facts['pgvector']}, "
             f"m={facts['m']}, ef_construction={facts['ef_construction']}; built in "
             f"{facts['build_seconds']:,.0f} s by {facts['build_workers']} processes, index "
             f"{facts['index_bytes'] / 1e6:,.0f} MB, table {facts['table_bytes'] / 1e6:,.0f} MB; " +
             ("O_DIRECT" if facts["direct"] else "buffered: the page cache helps"), ""]
    lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cells_of(row)) + " |" for row in facts["queries"]]
    for row in facts["inserts"]:
        how = "one transaction" if row["together"] else \
            f"{row['connections']} connections, a transaction a row"
        lines.append(f"\nInserts, buffer {row['buffer']}, {how}: "
                     f"{row['rows_per_second']:,.0f} rows/s ({row['rows']:,} rows)")
    if "error" in facts:
        lines.append(f"\nEnded by an error: {facts['error']}")
    return "\n".join(lines) + "\n"
