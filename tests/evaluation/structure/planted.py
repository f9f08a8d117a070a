"""Plans and traces written by a seeded generator, with a fault planted in some and nothing wrong in others."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from planroute.importers import Action
from planroute.plan import PlanUnit

HARMLESS = ("clean", "extra actions", "repeated actions", "refused attempts")
FAULTS = ("swapped", "omitted", "refused", "repeated unit")


@dataclass(frozen=True)
class Step:
    """A unit, the action that completes it, and whether another unit's action could show or imply it as well."""

    unit: str
    action: str
    shared: bool = False


@dataclass(frozen=True)
class Planted:
    lexicon: str
    fault: str
    units: tuple[PlanUnit, ...]
    actions: tuple[Action, ...]
    broken: frozenset[str]
    """Ids of units one of which must be named as the first that broke."""

    @property
    def harmless(self) -> bool:
        return self.fault in HARMLESS


def household(random_: random.Random) -> list[Step]:
    things = random_.sample(["mug", "apple", "pillow", "knife", "plate", "book", "watch", "candle"], 4)
    places = random_.sample(["desk", "shelf", "drawer", "cabinet", "countertop", "dresser", "sofa", "bed"], 5)
    steps = []
    for number in range(random_.randint(1, 3)):
        thing, source, target = things[number], places[number], places[number + 1]
        n, at, to = random_.randint(1, 4), random_.randint(1, 6), random_.randint(1, 6)
        named = random_.choice([thing, f"the {thing}", f"{thing} {n}", f"a {thing}"])
        if random_.random() < 0.5:
            steps.append(
                Step(random_.choice([f"go to {source} {at}", f"Walk to the {source}"]), f"go to {source} {at}", True)
            )
        steps.append(
            Step(
                random_.choice(
                    [f"Find and take {named}", f"take {named} from {source} {at}", f"pick up {named} from the {source}"]
                ),
                f"take {thing} {n} from {source} {at}",
            )
        )
        care = random_.choice(
            [None, ("clean", "sinkbasin", "wash"), ("heat", "microwave", "warm"), ("cool", "fridge", "chill")]
        )
        if care:
            verb, tool, other = care
            steps.append(
                Step(
                    random_.choice([f"{verb} it with {tool}", f"{other} {named}"]), f"{verb} {thing} {n} with {tool} 1"
                )
            )
        if random_.random() < 0.3:
            steps.append(Step(f"open the {target}", f"open {target} {to}"))
        steps.append(
            Step(
                random_.choice(
                    [
                        f"put {named} in {target}",
                        f"then place it on the {target} {to}",
                        f"Put the {thing} in/on {target}",
                    ]
                ),
                random_.choice([f"put {thing} {n} in/on {target} {to}", f"move {thing} {n} to {target} {to}"]),
            )
        )
    if random_.random() < 0.4:
        steps.append(Step("find and use a desklamp", "use desklamp 1"))
    return steps


def web(random_: random.Random) -> list[Step]:
    labels = random_.sample(["Search", "Flights", "Cart", "Checkout", "Reviews", "Account", "Filters", "Deals"], 4)
    values = random_.sample(["boston", "laptop", "red shoes", "june 12", "2 adults"], 3)
    fields = random_.sample(["Destination", "Keyword", "Guests", "Departure", "Colour"], 3)
    steps = [
        Step(random_.choice([f"Click the '{label}' button", f"Click on {label}"]), f"[button]  {label} -> CLICK")
        for label in labels
    ]
    steps += [
        Step(f"Type '{value}' into the {field} field", f"[textbox]  {field} -> TYPE: {value}")
        for value, field in zip(values, fields, strict=True)
    ]
    steps.append(
        Step("Select 'Price: low to high' from the sort menu", "[combobox]  Sort -> SELECT: Price: low to high")
    )
    random_.shuffle(steps)
    return steps[: random_.randint(3, 7)]


def shell(random_: random.Random) -> list[Step]:
    module = random_.choice(["query", "ranking", "capture", "rings"])
    symbol = random_.choice(["bulk_create", "roc_curve", "readouterr", "as_expr"])
    file = f"src/core/{module}.py"
    script = f"reproduce_{module}.py"
    steps = [
        Step(f"Locate `{symbol}` in `{file}`", f"grep -n 'def {symbol}' {file}", True),
        Step("Create a script to reproduce the issue", f"cat <<'EOF' > {script}\nfrom src.core import {module}\nEOF"),
        Step(random_.choice(["Reproduce the issue", "Run the script"]), f"python3 {script}"),
        Step("Fix the issue in the source code", f"sed -i 's/old/new/' {file}"),
        Step("Verify the fix by running the script again", f"python3 {script}"),
        Step(random_.choice(["Test edge cases", "Test other inputs"]), f"python3 -c 'import edge_{module}'"),
        Step("Submit the change", "git add -A && git commit -m done"),
    ]
    first = random_.randint(0, 3)
    return steps[first : random_.randint(first + 3, 7)] if first < 3 else steps[2:6]


def generic(random_: random.Random) -> list[Step]:
    parts = random_.sample(["valve", "pump", "boiler", "fan", "meter", "damper", "relay", "sensor"], 6)
    verbs = random_.sample(["inspect", "open", "close", "calibrate", "label", "remove", "record"], 6)
    return [
        Step(f"{verb.capitalize()} the {part}", f"{verb} {part}")
        for verb, part in list(zip(verbs, parts, strict=True))[: random_.randint(3, 6)]
    ]


EXTRAS = {
    "household": [
        "look",
        "inventory",
        "go to garbagecan 9",
        "open safe 9",
        "close safe 9",
        "take keychain 9 from safe 9",
    ],
    "web": ["[link]  Newsletter -> CLICK", "scroll [down]", "[link]  Imprint -> HOVER", "press [Escape]"],
    "shell": ["ls -la", "pwd", "cat README.md", "cd /testbed", "git status", "pip list"],
    "generic": ["wait", "greet operator", "log note", "measure humidity"],
}
MAKERS = {"household": household, "web": web, "shell": shell, "generic": generic}


def _acts(texts: list[tuple[str, bool]]) -> tuple[Action, ...]:
    return tuple(
        Action(index, text, "ok" if done else "Nothing happens.", done) for index, (text, done) in enumerate(texts)
    )


def _noise(texts: list[tuple[str, bool]], lexicon: str, random_: random.Random) -> list[tuple[str, bool]]:
    """Extra actions that no unit asks for, anywhere."""
    noisy = list(texts)
    for _ in range(random_.randint(1, 6)):
        noisy.insert(random_.randint(0, len(noisy)), (random_.choice(EXTRAS[lexicon]), True))
    return noisy


def planted(seed: int, lexicon: str, fault: str) -> Planted:
    random_ = random.Random(f"{seed} {lexicon} {fault}")
    while True:
        made = _plant(MAKERS[lexicon](random_), lexicon, fault, random_)
        if made:
            return made


def _plant(steps: list[Step], lexicon: str, fault: str, random_: random.Random) -> Planted | None:
    texts = [(step.action, True) for step in steps]
    units = [PlanUnit(str(n), step.unit) for n, step in enumerate(steps, 1)]
    solid = [n for n, step in enumerate(steps) if not step.shared and not _serves_elsewhere(steps, n)]
    broken: frozenset[str] = frozenset()
    if fault == "repeated actions":
        places = random_.sample(range(len(texts)), min(2, len(texts)))
        texts = [pair for n, pair in enumerate(texts) for pair in [pair] * (2 if n in places else 1)]
    elif fault == "refused attempts":
        places = random_.sample(range(len(texts)), min(2, len(texts)))
        texts = [p for n, pair in enumerate(texts) for p in ([(pair[0], False)] if n in places else []) + [pair]]
    elif fault in {"omitted", "refused"}:
        if not solid:
            return None
        gone = random_.choice(solid)
        texts[gone : gone + 1] = [] if fault == "omitted" else [(texts[gone][0], False)]
        broken = _named(units, gone)
    elif fault == "swapped":
        pairs = [
            n for n in range(len(steps) - 1) if n in solid and n + 1 in solid and steps[n].action != steps[n + 1].action
        ]
        if not pairs:
            return None
        first = random_.choice(pairs)
        texts[first], texts[first + 1] = texts[first + 1], texts[first]
        broken = _named(units, first, first + 1)
    elif fault == "repeated unit":
        if not solid:
            return None
        again = random_.choice(solid)
        units.insert(again + 1, PlanUnit(f"{again + 1}b", steps[again].unit))
        broken = _named(units, again, again + 1)
    if fault != "clean":
        texts = _noise(texts, lexicon, random_)
    return Planted(lexicon, fault, tuple(units), _acts(texts), broken)


def _serves_elsewhere(steps: list[Step], place: int) -> bool:
    """Whether the action of this step would also do for another unit, so that its loss breaks that one."""
    return sum(step.action == steps[place].action for step in steps) > 1


def _named(units: list[PlanUnit], *places: int) -> frozenset[str]:
    return frozenset(units[place].id for place in places)


def all_planted(count: int = 200) -> Iterator[Planted]:
    """``count`` traces, spread evenly over lexicons and over harmless and faulty kinds."""
    kinds = [(lexicon, fault) for fault in (*HARMLESS, *FAULTS) for lexicon in MAKERS]
    for number in range(count):
        lexicon, fault = kinds[number % len(kinds)]
        yield planted(number, lexicon, fault)
