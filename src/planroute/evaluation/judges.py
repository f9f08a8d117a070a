"""Judges: a language model scores evidence by a rubric, 0 to 3.

Sources: Planning-as-Routing, appendix D (trajectory judge of search), appendix F (plan quality, plan adherence). The
rubrics are in the project's own words. Judge and backbone should differ; scores of different judges are never pooled,
which is why every judgement carries its judge's name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.protocols import Context, Judgement

TRAJECTORY: Final = """\
You compare attempts at one task. You see the goal and the transcript of one attempt. Score how far it got, by what \
the transcript shows and nothing else:
0: nothing towards the goal. 1: some of what is needed. 2: most of it, something is missing or doubtful. 3: the \
transcript shows that the goal is reached.
Answer in JSON: score and one short reason."""

QUALITY: Final = """\
You judge a plan as it was written, before anything was done. You see the goal, what can be done, and the plan. Judge \
the strategy: does it cover the goal, can each step be done with what there is, is the order right, is anything wasted?
0: does not address the goal. 1: misses or misorders important steps. 2: workable with gaps or waste. 3: complete, \
feasible, ordered, economical.
Answer in JSON: score and one short reason."""

ADHERENCE: Final = """\
You judge whether a declared plan was carried out. You see the plan and the transcript. Take the executable steps of \
the plan (of nested plans the innermost) and look for evidence of each in the transcript. Extra actions do not count \
against it unless they replace or prevent a step. Whether the plan was good, or the task succeeded, does not matter.
0: hardly any step. 1: some steps. 2: most steps, an important one is missing. 3: all steps that were still needed.
Answer in JSON: score and one short reason."""

RUBRICS: Final[Mapping[str, str]] = {"trajectory": TRAJECTORY, "quality": QUALITY, "adherence": ADHERENCE}


class Score(BaseModel):
    """A judge's answer."""

    model_config = ConfigDict(frozen=True)

    score: int = Field(ge=0, le=3, description="0 to 3")
    reason: str = Field("", max_length=200, description="one short reason")


@dataclass(frozen=True, slots=True)
class RubricJudge:
    """Scores by one of ``RUBRICS``. Asks the episode's judge model, or its backbone where it has no other."""

    rubric: str
    sampling: Sampling = Sampling(temperature=0.0)

    @property
    def name(self) -> str:
        """The rubric; the model's name stands in the judgement."""
        return f"{self.rubric} judge"

    async def judge(self, task: str, evidence: Mapping[str, Any], context: Context) -> Judgement:
        """Score ``evidence`` for ``task``. Raises ``ReplyError`` and ``ModelError`` as every model call does."""
        asked = context if context.judge is None else replace(context, model=context.judge)
        state = json.dumps({"goal": task, **evidence}, ensure_ascii=False)
        parsed = await ask(asked, self.name, RUBRICS[self.rubric], f"State: {state}", Score, sampling=self.sampling)
        endpoint = asked.model.endpoint if asked.model else ""
        return Judgement(parsed.value.score, parsed.value.reason, f"{self.name} {endpoint}")
