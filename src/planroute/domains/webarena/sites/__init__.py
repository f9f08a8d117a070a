"""Small sites of the project's own, served on loopback for one episode each. They are no sites of the benchmark."""

from planroute.domains.webarena.sites.serving import Served, serve

__all__ = ["Served", "serve"]
