"""Issues of software repositories: SWE-bench Verified's records, and four small ones of the project's own."""

from planroute.domains.swebench.reading import read_records
from planroute.domains.swebench.records import Record

__all__ = ["Record", "read_records"]
