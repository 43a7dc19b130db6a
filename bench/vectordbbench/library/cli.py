"""`vectordbbench library`."""
from typing import Annotated, Unpack

import click

from ....cli.cli import (
    CommonTypedDict,
    cli,
    click_parameter_decorators_from_typed_dict,
    run,
)
from .. import DB
from .config import LibraryConfig, LibraryIndexConfig


class LibraryTypedDict(CommonTypedDict):
    library: Annotated[str, click.option(
        "--library", type=click.Choice(("hnswlib", "faiss")), required=True, help="Whose HNSW graph")]
    folder: Annotated[str, click.option(
        "--folder", required=True, help="Of the files rows, ids and index; with --drop-old they begin anew")]
    m: Annotated[int, click.option("--m", type=int, default=16, show_default=True, help="Edges")]
    ef_construction: Annotated[int, click.option(
        "--ef-construction", type=int, default=200, show_default=True, help="Candidates of an insert")]
    ef: Annotated[int, click.option(
        "--ef", type=int, default=40, show_default=True, help="Candidates of a search")]


@cli.command(name="library")
@click_parameter_decorators_from_typed_dict(LibraryTypedDict)
def LibraryIndex(**parameters: Unpack[LibraryTypedDict]):
    run(db=DB.Library,
        db_config=LibraryConfig(db_label=parameters["db_label"], library=parameters["library"],
                                folder=parameters["folder"]),
        db_case_config=LibraryIndexConfig(
            m=parameters["m"], ef_construction=parameters["ef_construction"], ef=parameters["ef"]),
        **parameters)
