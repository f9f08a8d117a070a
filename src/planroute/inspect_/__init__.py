"""planroute inside Inspect, and Inspect's providers inside planroute. The only place that imports ``inspect_ai``.

Inspect finds everything by itself, through the entry point ``planroute.inspect_.registry``::

    inspect eval planroute/alfworld --solver planroute/forced --model planroute/scripted/slip=0.1

- ``tasks``, ``solvers``, ``scorers``: the household games, the conditions of a comparison, what is measured.
- ``provider``: planroute's models as a provider of Inspect, with planroute's call cache in it.
- ``model``: a model of Inspect as a ``planroute.protocols.Model``; ``--model inspect:PROVIDER/MODEL``.
- ``exchange``, ``schema``, ``faults``: how a call travels between the two, and what goes wrong on the way.
- ``show``, ``conversation``: an episode as spans, events and messages of a log.
- ``settings``: what a sample must carry so that a solver can open its domain.

Importing Inspect takes seconds, so nothing here is imported before it is used.
"""
