"""The whole experiment once more on newly drawn seeds: what was seen on its own seeds, out of sample."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from planroute.errors import InputError
from planroute.experiments.analyses.fresh_runs import NONE_ASKED, TRIPLE, fresh_seeds, run_fresh
from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.claims import holds, number_at
from planroute.experiments.outcomes import conditions

NOT_AGAIN = ("replicate", "fresh", "settings", "uncontrolled")
"""Kinds that draw seeds of their own or do not depend on the seed."""
STUDY_DRAWS = 200
"""Draws of a bootstrap in one study among many: of those only the estimates are kept."""


async def replicate(inputs: Inputs, *, seeds: int = 30) -> dict[str, Any]:
    """Run the experiment's cells and analyses on ``seeds`` newly drawn seeds, without a language model.

    ``conditions``, ``oracle`` and ``analyses`` are those of all fresh seeds together, in the form that the experiment
    itself has. The same seeds are then cut into ``studies`` of as many seeds as the experiment has: ``holds`` counts
    for each direction, by its words, the studies that show it, and ``ranges`` tells for each path that a claim or
    direction names how far its value moves from study to study.
    """
    triples = inputs.setting.fresh_triples
    count = seeds if triples is None else TRIPLE * triples
    if count < 1:
        return {"status": "not_run", "why": NONE_ASKED}
    drawn = [seed for triple in fresh_seeds(-(-count // TRIPLE)) for seed in triple][:count]
    banked = await run_fresh(inputs, drawn)
    every = replace(inputs, rows=banked.rows, directives=banked.collected)
    experiment, size = inputs.experiment, len(inputs.experiment.seeds)
    studies = [
        await _study(_under(every, drawn[at : at + size])) for at in range(0, count - size + 1, size) if size < count
    ]
    paths = {
        *(claim.ours for claim in experiment.claims),
        *(path for direction in experiment.directions for path in direction.paths),
    }
    spreads = {path: _spread([number_at(study, path) for study in studies]) for path in sorted(paths)}
    return {
        "status": "done",
        "seeds": drawn,
        "episodes": len(banked.rows),
        "size": size,
        "studies": len(studies),
        **await _study(every),
        "holds": {one.what: sum(holds(one, study) is True for study in studies) for one in experiment.directions},
        "ranges": {path: spread for path, spread in spreads.items() if spread is not None},
    }


def _under(inputs: Inputs, seeds: Collection[int]) -> Inputs:
    return replace(
        inputs,
        rows=[row for row in inputs.rows if row.seed in seeds],
        directives=[line for line in inputs.directives if line["seed"] in seeds],
        draws=STUDY_DRAWS,
    )


async def _study(inputs: Inputs) -> dict[str, Any]:
    """What a result holds of one set of seeds; the lines of single seeds stand in the table of rows."""
    analyse = inputs.analyse
    if analyse is None:
        raise InputError("an experiment is repeated by its own analyses only")
    body = conditions(inputs.rows, inputs.experiment)
    for table in body["conditions"].values():
        del table["per_seed"]
    found = [analysis for analysis in inputs.experiment.analyses if analysis.kind not in NOT_AGAIN]
    return {**body, "analyses": {analysis.name: await analyse(analysis, inputs) for analysis in found}}


def _spread(values: Sequence[float | None]) -> Mapping[str, float] | None:
    known = np.array([value for value in values if value is not None])
    if not len(known):
        return None
    return {
        "mean": float(known.mean()),
        "sd": float(known.std(ddof=1)) if len(known) > 1 else 0.0,
        "low": float(known.min()),
        "high": float(known.max()),
        "n": len(known),
    }
