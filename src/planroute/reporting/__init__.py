"""Reports: one self-contained HTML file, made from the files of a run and from nothing else."""

from planroute.reporting.report import render_report, write_report

__all__ = ["render_report", "write_report"]
