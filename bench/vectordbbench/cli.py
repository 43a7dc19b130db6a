"""`vectordbbench farvec`."""
from typing import Annotated, Unpack

import click

from ....cli.cli import (
    CommonTypedDict,
    cli,
    click_parameter_decorators_from_typed_dict,
    run,
)
from .. import DB
from .config import FarvecConfig, FarvecIndexConfig


class FarvecTypedDict(CommonTypedDict):
    address: Annotated[str, click.option(
        "--address", default="127.0.0.1:7711", show_default=True,
        help="HOST:PORT or unix:/path of farvec-compute-node --collection")]
    list: Annotated[int, click.option(
        "--list", type=int, default=100, show_default=True, help="Candidates kept by a search")]
    width: Annotated[int, click.option(
        "--width", type=int, default=1, show_default=True, help="Records fetched per hop")]


@cli.command(name="farvec")
@click_parameter_decorators_from_typed_dict(FarvecTypedDict)
def FarvecCollection(**parameters: Unpack[FarvecTypedDict]):
    run(db=DB.Farvec,
        db_config=FarvecConfig(db_label=parameters["db_label"], address=parameters["address"]),
        db_case_config=FarvecIndexConfig(list=parameters["list"], width=parameters["width"]),
        **parameters)
