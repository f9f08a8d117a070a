"""An experiment's own cells on newly drawn seeds, which nothing was fitted on and nobody has looked at."""

from collections.abc import Sequence
from dataclasses import replace

from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.scenes import collect_directives, scene
from planroute.runs.bank import Banked, run_bank
from planroute.runs.table import row_frame, write_table
from planroute.streams import stream

FRESH = "fresh"
TRIPLE = 3
NONE_ASKED = "no fresh seeds were asked for"
_FROM, _TO = 1_000_000, 10_000_000
"""Where fresh seeds are drawn from: far above every seed that was ever looked at in fitting."""


def fresh_seeds(triples: int) -> list[tuple[int, ...]]:
    """Distinct seeds from the stream of fresh triples, three by three; more triples only add to fewer."""
    draws = stream(0, "fresh triples")
    seen: dict[int, None] = {}
    while len(seen) < TRIPLE * triples:
        seen.setdefault(int(draws.integers(_FROM, _TO)))
    every = list(seen)
    return [tuple(every[i : i + TRIPLE]) for i in range(0, len(every), TRIPLE)]


async def run_fresh(inputs: Inputs, seeds: Sequence[int], *, forced_only: bool = False) -> Banked:
    """Run the experiment under ``seeds``, without a language model; rows and tables go beside the experiment's own.

    What needs a model is left out, and the hybrid runs on its prior.
    """
    experiment = inputs.experiment
    found = scene(experiment, replace(inputs.setting, seeds=tuple(seeds), models={}, communication="calibrated"))
    banked = await run_bank(
        found.domain,
        [cell for cell in found.cells if not forced_only or cell.condition in experiment.forced],
        out=inputs.out / FRESH if inputs.out is not None else None,
        workers=inputs.setting.workers,
        manner=inputs.setting.manner,
        collect=collect_directives if experiment.directives else None,
        source=inputs.source,
        finished=inputs.advance,
    )
    if inputs.out is not None:
        write_table(inputs.out / f"{FRESH}.parquet", row_frame(banked.rows))
    return banked
