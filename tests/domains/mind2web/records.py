"""Small records in the benchmark's forms, for tests to change."""

import copy
import json

from planroute.domains.mind2web.reading import assembled, read_records

BUTTONS = ("Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf")


def page(buttons=BUTTONS, extra=""):
    """A page with one button for each name, nodes 10, 11, ..., and a field, node 5."""
    listed = "".join(
        f'<button backend_node_id="{10 + n}"><text>{name}</text></button>' for n, name in enumerate(buttons)
    )
    return (
        f'<html backend_node_id="1"><body backend_node_id="2"><input backend_node_id="5" placeholder="Town"/>'
        f'<div backend_node_id="3">{listed}</div>{extra}</body></html>'
    )


def candidate(node, tag="button", **more):
    return {"tag": tag, "backend_node_id": str(node), "attributes": json.dumps({"backend_node_id": str(node)}), **more}


def action(number, right=10, op="CLICK", value="", buttons=BUTTONS, html=None):
    nodes = [5, *range(10, 10 + len(buttons))]
    others = [candidate(node, "input" if node == 5 else "button") for node in nodes if node != right]
    return {
        "action_uid": f"u{number}",
        "operation": {"op": op, "original_op": op, "value": value},
        "cleaned_html": html or page(buttons),
        "pos_candidates": [candidate(right, "input" if right == 5 else "button", is_original_target=True)],
        "neg_candidates": others,
    }


def raw(*actions, name="a1", goal="Press what is to be pressed"):
    actions = list(actions) or [action(1), action(2, 5, "TYPE", "New York"), action(3, 12)]
    return {
        "annotation_id": name,
        "confirmed_task": goal,
        "website": "letters",
        "domain": "Info",
        "subdomain": "Letters",
        "actions": actions,
        "action_reprs": [f"[button]  b{n} -> {each['operation']['op']}" for n, each in enumerate(actions)],
    }


def rows(record):
    """``record`` in the form with one row for each step, operation and candidates as JSON in strings."""
    shared = {name: value for name, value in record.items() if name != "actions"}
    found = []
    for number, each in enumerate(record["actions"]):
        row = copy.deepcopy({**shared, **each})
        row["operation"] = json.dumps(row["operation"])
        for name in ("pos_candidates", "neg_candidates"):
            row[name] = [json.dumps(item) for item in row[name]]
        found.append(row | {"target_action_index": str(number), "target_action_reprs": record["action_reprs"][number]})
    return found


def task(*actions, **more):
    """One task, read."""
    found, faults = read_records([raw(*actions, **more)], "made.json")
    tasks, wrong = assembled(found)
    assert (faults, wrong) == ([], [])
    return tasks[0]
