"""Trajectories to label, with planted secrets: a household game each, some with the plan carried out, some not."""

import json

SECRET = "SECRET-MODEL"


def game(number, kept):
    """An episode of two steps; where ``kept`` is false the second was not done. Its reward says the opposite."""
    done = f" take mug {number} from desk 1\nYou pick up the mug {number}.\n"
    put = f"> put mug {number} in/on shelf 1\nYou put the mug {number}.\n" if kept else "> look\nYou see a desk 1.\n"
    return {
        "problem": "Your task is to: put a mug on a shelf.",
        "trace": done + put,
        "plans": [
            "put a mug on a shelf. at depth 1, success: True",
            "['Take mug from desk', 'Put mug on shelf'] at depth 2 and logic AND",
            "Take mug from desk at depth 2, success: True",
            "Put mug on shelf at depth 2, success: True",
        ],
        "reward": int(not kept),
    }


def write_games(path, kept):
    """Write an episode for each of ``kept`` and return ``path``."""
    games = {f"{SECRET} {number}": game(number, one) for number, one in enumerate(kept, 1)}
    path.write_text(json.dumps({"pick": games}))
    return path
