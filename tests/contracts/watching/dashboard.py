"""Grafana's JSON model, as much of it as our dashboards use: a word that is not here is a slip, or is to be added."""

from __future__ import annotations

from typing import Literal

import msgspec


class Part(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Nothing but what is declared."""


class Source(Part):
    type: Literal["prometheus"]
    uid: Literal["${datasource}"]


class Place(Part):
    """In a grid that is 24 wide."""

    h: int
    w: int
    x: int
    y: int


class Target(Part):
    ref_id: str
    expr: str
    legend_format: str
    format: Literal["time_series", "heatmap", "table"] = "time_series"
    instant: bool = False


class Step(Part):
    color: Literal["green", "orange", "red", "text", "transparent"]
    value: float | None


class Thresholds(Part):
    mode: Literal["absolute"]
    steps: list[Step]


class Color(Part):
    mode: Literal["fixed", "thresholds"]
    fixed_color: str = ""


class Stacking(Part):
    mode: Literal["normal"]
    group: Literal["A"]


class ThresholdsStyle(Part):
    mode: Literal["dashed"]


class Custom(Part):
    """How lines are drawn."""

    show_points: Literal["never"]
    fill_opacity: int = 0
    stacking: Stacking | None = None
    thresholds_style: ThresholdsStyle | None = None


class Defaults(Part):
    unit: Literal["short", "s", "bytes", "Bps", "percentunit"]
    decimals: int | None = None
    min: float | None = None
    max: float | None = None
    thresholds: Thresholds | None = None
    color: Color | None = None
    custom: Custom | None = None


class FieldConfig(Part):
    defaults: Defaults
    overrides: list[str]


class Tooltip(Part):
    mode: Literal["multi"]
    sort: Literal["desc"]


class Scheme(Part):
    mode: Literal["scheme"]
    scheme: str
    steps: int


class YAxis(Part):
    axis_placement: Literal["left"]
    unit: Literal["s"]


class StatOptions(Part):
    color_mode: Literal["background", "value"]
    graph_mode: Literal["area", "none"]


class LinesOptions(Part):
    tooltip: Tooltip


class HeatmapOptions(Part):
    calculate: bool
    color: Scheme
    y_axis: YAxis


class TableOptions(Part):
    cell_height: Literal["sm"]


class Organize(Part):
    exclude_by_name: dict[str, bool]


class Transformation(Part):
    id: Literal["organize"]
    options: Organize


class Row(Part, tag_field="type", tag="row"):
    id: int
    title: str
    grid_pos: Place
    collapsed: bool
    panels: list[str]


class Panel(Part):
    """What all panels have."""

    id: int
    title: str
    description: str
    datasource: Source
    grid_pos: Place
    targets: list[Target]
    field_config: FieldConfig


class Stat(Panel, tag_field="type", tag="stat"):
    options: StatOptions


class Lines(Panel, tag_field="type", tag="timeseries"):
    options: LinesOptions


class Heatmap(Panel, tag_field="type", tag="heatmap"):
    options: HeatmapOptions


class Table(Panel, tag_field="type", tag="table"):
    options: TableOptions
    transformations: list[Transformation]


class Link(Part):
    """To the other dashboards."""

    type: Literal["dashboards"]
    title: str
    tags: list[str]
    as_dropdown: bool
    include_vars: bool
    keep_time: bool


class Asked(Part):
    ref_id: Literal["Anno"]
    expr: str


class Annotation(Part):
    name: str
    datasource: Source
    enable: bool
    icon_color: str
    target: Asked
    title_format: str
    text_format: str


class Annotations(Part):
    marks: list[Annotation] = msgspec.field(name="list")


class Chosen(Part):
    text: str = ""
    value: str = ""


class Variable(Part):
    name: str
    type: Literal["datasource", "textbox"]
    label: str
    query: str
    current: Chosen


class Templating(Part):
    variables: list[Variable] = msgspec.field(name="list")


class Span(Part):
    from_: str = msgspec.field(name="from")
    to: str


class Dashboard(Part):
    uid: str
    title: str
    description: str
    tags: list[str]
    schema_version: int
    editable: bool
    graph_tooltip: int
    refresh: str
    time: Span
    timezone: Literal["browser"]
    links: list[Link]
    annotations: Annotations
    templating: Templating
    panels: list[Row | Stat | Lines | Heatmap | Table]

    def shown(self) -> list[Stat | Lines | Heatmap | Table]:
        """Its panels without the rows' headings."""
        return [panel for panel in self.panels if not isinstance(panel, Row)]


def read(text: bytes) -> Dashboard:
    """Raises msgspec.ValidationError, with the place."""
    return msgspec.json.decode(text, type=Dashboard)
