"""Pages as text: the benchmark's own form, cut around candidates by structure, whatever the HTML is like."""

import json
from itertools import chain

import pytest

from planroute.domains.mind2web.page import ANCESTORS, Page
from planroute.domains.mind2web.records import Candidate
from planroute.domains.mind2web.tasks import find_tasks
from tests.domains.mind2web.records import page

pytest.importorskip("lxml", reason="needs the mind2web extra")


def test_it_reads_as_the_benchmark_renders_it(data_dir):
    """The recorded prompt of a real step: the page around its 16 choices, and every choice, letter by letter."""
    path = data_dir / "mind2web" / "seeact_one_step_full.jsonl"
    record = json.loads(path.read_text())
    (task,) = find_tasks(path)
    cut = Page(task.steps[0].markup.html).cut([node for node, _ in record["choices"]], 10_000)
    assert list(cut.choices.items()) == [tuple(each) for each in record["choices"]]
    assert cut.text == record["context_html"]


def test_numbers_and_choices_follow_the_page_and_not_the_order_of_candidates():
    cut = Page(page()).cut(["12", "5", "10"], 300)
    assert cut.numbers == {"5": 0, "10": 1, "12": 2}
    assert list(cut.choices.values()) == [
        "<input id=0 town />",
        "<button id=1> Alpha </button>",
        "<button id=2> Charlie </button>",
    ]


def test_attributes_are_values_without_names_short_and_once():
    html = (
        '<html><a backend_node_id="1" role="none" title="Big sale" name="big SALE" placeholder="http://x.example" '
        'value="one two three four five six" class="averyveryverylongname c1">x</a></html>'
    )
    assert Page(html).cut(["1"], 9).choices["1"] == "<a id=0 big sale one two three four five c1>"


def test_a_label_names_an_element_in_words():
    element = Page(page())
    assert (element.label("5"), element.label("10")) == ("[input] Town".lower(), "[button] Alpha")


# Cutting


def rest(count):
    return "".join(f'<p backend_node_id="{100 + n}">filler {n}</p>' for n in range(count))


def test_the_budget_bounds_what_is_added_and_never_the_candidates():
    html = page(extra=f'<div backend_node_id="50"><span backend_node_id="51"/>{rest(500)}</div>')
    nodes = ["51", *map(str, range(10, 17))]
    texts = [Page(html).cut(nodes, budget).text for budget in (1, 12, 13, 9999)]
    assert [text.count("filler") for text in texts] == [0, 0, 1, 3]
    for text in texts:
        assert all(name in text for name in ("<button id=0> Alpha </button>", "id=6", "<span id=7 />"))
        assert text.startswith("<html> <body> ")
        assert text.endswith(" </body> </html>")


def test_what_is_near_is_kept_first():
    html = (
        f'<html><div><section><b backend_node_id="8">left out</b></section><ul>{rest(9)}<li backend_node_id="7">'
        "<i>inside <u>deep</u></i></li></ul></div></html>"
    )
    shown = Page(html)
    assert shown.cut(["7"], 4).text == "<html> <li id=0 /> </html>"
    assert "inside" in shown.cut(["7"], 6).text
    whole = shown.cut(["7"], 999).text
    assert "deep" in whole
    assert [f"filler {n}" in whole for n in range(9)] == [False] * 6 + [True] * 3
    assert "left out" not in whole


def test_texts_are_cut_by_words():
    html = f'<html><a backend_node_id="1">{" ".join(f"w{n}" for n in range(50))}</a></html>'
    cut = Page(html).cut(["1"], 99)
    assert cut.text.split()[3:] == [*(f"w{n}" for n in range(20)), "</a>", "</html>"]
    assert cut.choices["1"] == "<a id=0> w0 w1 w2 w3 w4 w5 w6 w7"


def test_elements_that_the_page_lost_stand_at_its_end():
    gone = Candidate("99", "button", attributes={"aria_label": "Gone"})
    cut = Page(page(), [gone, Candidate("10", "button")]).cut(["99", "10"], 99)
    assert list(cut.choices.values()) == ["<button id=0> Alpha </button>", "<button id=1 gone />"]


# Whatever the HTML is like


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", "<a id=0 />"),
        ("no markup & none < 3", "no markup & none &lt; 3 <a id=0 />"),
        ('<html><p>one <a backend_node_id="1">two</a> three</p></html>', "<p> one <a id=0> two </a> three </p>"),
        ('<div><a backend_node_id="1"><input>never closed', "<a id=0> <input> never closed </input> </a>"),
        ('<html><a backend_node_id="1">a&nbsp;b &eacute; &</a></html>', "<a id=0> a b é & </a>"),
        ('<html><a backend_node_id="1">&nothing; &#x3c;i&#62;</a></html>', "<a id=0> &lt;i&gt; </a>"),
        ('<html><script>x</script><style>y</style><a backend_node_id="1">z</a><!-- c --></html>', "<a id=0> z </a>"),
        ('<?xml version="1.0" encoding="latin-1"?><html><a backend_node_id="1">ü</a></html>', "<a id=0> ü </a>"),
        ('<html><x:a backend_node_id="1">n</x:a></html>', "<x:a id=0> n </x:a>"),
    ],
)
def test_odd_markup_is_read_as_far_as_it_goes(html, text):
    cut = Page(html, [Candidate("1", "a")]).cut(["1"], 99)
    assert cut.text == f"<html> {text} </html>"


def test_no_entity_is_expanded():
    entities = "".join(f'<!ENTITY e{n + 1} "&e{n};&e{n};&e{n};&e{n};">' for n in range(30))
    html = f'<!DOCTYPE html [<!ENTITY e0 "boom">{entities}]><html><a backend_node_id="1">&e30; end</a></html>'
    assert Page(html).cut(["1"], 99).text == "<html> <a id=0> end </a> </html>"


def test_nothing_is_fetched(tmp_path):
    (tmp_path / "secret").write_text("secret")
    html = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><html><a backend_node_id="1">&x;</a></html>'
    assert "secret" not in Page(html).cut(["1"], 99).text


@pytest.mark.parametrize("depth", [100, 1500, 5000, 100_000])
def test_deep_nesting(depth):
    opening = "".join(f'<div role="level{n}">' for n in range(depth))
    html = f'<html>{opening}<a backend_node_id="1">deep</a>{"</div>" * depth}</html>'
    text = Page(html, [Candidate("1", "a")]).cut(["1"], 99).text
    assert "<a id=0" in text
    assert text.count("<div") <= ANCESTORS + 1
    assert ("deep" in text) is (depth < 2000)


def test_an_enormous_page():
    count = 30_000
    items = "".join(f'<div><a backend_node_id="{n}">link {n}</a><p>{"words " * 20}</p></div>' for n in range(count))
    html = f"<html>{items}</html>"
    assert len(html) > 4_000_000
    nodes = [str(n) for n in chain(range(10), range(count - 10, count))]
    cut = Page(html).cut(nodes, 300)
    assert len(cut.choices) == 20
    assert len(cut.text.split()) < 3000


def test_one_endless_word_and_one_endless_text():
    long, words = "x" * 3_000_000, "y " * 999_999
    html = f'<html><a backend_node_id="1" title="t">{long}</a><b backend_node_id="2">{words}</b></html>'
    assert len(Page(html).cut(["1", "2"], 99).text) < 300
