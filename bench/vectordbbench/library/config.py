"""Which library, where its files lie, and its graph."""
from pydantic import BaseModel

from ..api import DBCaseConfig, DBConfig, MetricType
from ..farvec.config import METRICS


class LibraryConfig(DBConfig):
    """A library of PyPI, in the benchmark's own processes."""

    library: str = "hnswlib"
    folder: str = "library"  # of vectors and index

    def to_dict(self) -> dict:
        return {"library": self.library, "folder": self.folder}


class LibraryIndexConfig(BaseModel, DBCaseConfig):
    metric_type: MetricType | None = None  # the case's
    m: int = 16
    ef_construction: int = 200
    ef: int = 40

    def metric(self) -> str:
        if self.metric_type not in METRICS:
            raise ValueError(f"no library has the metric {self.metric_type}")
        return METRICS[self.metric_type]

    def index_param(self) -> dict:
        return {"m": self.m, "ef_construction": self.ef_construction}

    def search_param(self) -> dict:
        return {"ef": self.ef}
