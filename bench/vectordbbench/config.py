"""What farvec is asked with in VectorDBBench: the node's address, and a search's parameters."""
from pydantic import BaseModel

from ..api import DBCaseConfig, DBConfig, MetricType

METRICS = {MetricType.L2: "l2", MetricType.COSINE: "cosine", MetricType.IP: "ip",
           MetricType.DP: "ip"}


class FarvecConfig(DBConfig):
    """A compute node that was started with --collection."""

    address: str = "127.0.0.1:7711"

    def to_dict(self) -> dict:
        return {"address": self.address}


class FarvecIndexConfig(BaseModel, DBCaseConfig):
    """How the collection's graphs are built was said when it was made (`farvec collection create`)."""

    metric_type: MetricType | None = None  # the case's
    list: int = 100  # candidates kept by a search, at least k
    width: int = 1
    retries: int = 30

    def metric(self) -> str | None:
        """None where the case has none: then the collection's is taken."""
        if self.metric_type is None:
            return None
        if self.metric_type not in METRICS:
            raise ValueError(f"farvec has no metric {self.metric_type}")
        return METRICS[self.metric_type]

    def index_param(self) -> dict:
        return {}

    def search_param(self) -> dict:
        return {"list": self.list, "width": self.width}
