"""Tasks on live websites in a browser: WebArena's, judged by webarena-verified, and some of the project's own."""

from planroute.domains.webarena.records import Record, read_records

__all__ = ["Record", "read_records"]
