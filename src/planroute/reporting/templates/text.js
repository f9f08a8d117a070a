"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const one = (selector) => document.querySelector(selector);
  document.documentElement.classList.add("js");

  const read = (value) => (Array.isArray(value) ? value.map(read) : data.strings[value]);

  function make(name, classes, ...children) {
    const element = document.createElement(name);
    if (classes) {
      element.className = classes;
    }
    element.append(...children);
    return element;
  }

  function words(name, classes, text) {
    const element = make(name, classes, text);
    element.dir = "auto";
    return element;
  }

  const kinds = new Set(["plan", "revision", "goals", "candidate", "chosen", "work", "note", "trouble"]);
  const known = (kind) => (kinds.has(kind) ? kind : "");

  function version([title, note, kind, lines]) {
    const list = make("ol");
    for (const [depth, text, state, word, link, first] of lines) {
      const name = words(link ? "a" : "span", "", text);
      if (link) {
        name.href = `#step-${Number(link)}`;
      }
      const unit = make("li", `unit ${state || "goal"} d${depth}${first ? " first" : ""}`, name);
      if (word) {
        unit.append(make("small", "", word));
      }
      list.append(unit);
    }
    const section = make("section", `version ${known(kind)}`, words("h4", "", title));
    if (note) {
      section.append(words("p", "", note));
    }
    section.append(list);
    return section;
  }

  function step([kind, text, state, word, first, deeds], place) {
    const classes = `step ${known(kind)}${state ? ` ${state}` : ""}${first ? " first" : ""}`;
    const section = make("section", classes);
    section.id = `step-${place}`;
    if (text || word || first) {
      const head = words("h4", "", "");
      head.replaceChildren(make("span", "", text));
      if (word) {
        head.append(make("small", "", word));
      }
      if (first) {
        head.append(make("b", "", "first divergence"));
      }
      section.append(head);
    }
    if (deeds.length) {
      const list = make("ol");
      for (const [number, action, observation, flag] of deeds) {
        const body = make("div", "", words("code", "", action));
        if (flag) {
          body.append(make("b", "", flag));
        }
        body.append(words("p", "", observation));
        list.append(make("li", flag ? "idle" : "", make("span", "number", number), body));
      }
      section.append(list);
    }
    return section;
  }

  const picks = [...document.querySelectorAll("[data-pick]")];
  const course = one("[data-course]");
  let shown = Number(course.dataset.course);

  function none(element, list, text) {
    element.replaceChildren(...(list.length ? list : [make("p", "none", text)]));
  }

  function clear(text) {
    shown = -1;
    one("[data-name]").textContent = text;
    for (const name of ["goal", "ended", "divergence"]) {
      one(`[data-${name}]`).textContent = "";
      one(`[data-${name}]`).className = name;
    }
    for (const name of ["facts", "plans", "steps"]) {
      one(`[data-${name}]`).replaceChildren();
    }
    mark();
  }

  function show(place) {
    shown = place;
    const [outcome, ended, facts, said, plans, steps] = read(data.episodes[place]);
    const key = data.keys[place];
    picks.forEach((pick, i) => (pick.value = String(key[i])));
    one("[data-name]").textContent = data.names[place];
    one("[data-goal]").textContent = data.goals[key[0]];
    one("[data-ended]").textContent = ended;
    one("[data-ended]").className = `ended ${outcome}`;
    one("[data-divergence]").textContent = said[1];
    one("[data-divergence]").className = `divergence${said[0] ? " first" : ""}`;
    const list = facts.map(([name, text]) => make("div", "", make("dt", "", name), make("dd", "", text)));
    one("[data-facts]").replaceChildren(...list);
    none(one("[data-plans]"), plans.map(version), "No plan.");
    one("[data-plans]").scrollTop = 0;
    none(one("[data-steps]"), steps.map(step), "No action was taken.");
    mark();
  }

  function mark() {
    for (const link of document.querySelectorAll("a.mark")) {
      link.classList.toggle("here", link.hash === `#episode-${shown}`);
    }
  }

  for (const pick of picks) {
    pick.addEventListener("change", () => {
      const wanted = picks.map((other) => Number(other.value));
      const place = data.keys.findIndex((key) => key.every((value, i) => value === wanted[i]));
      if (place < 0) {
        clear("This episode is not on this page: it was not run, or its trajectory is in the cells of the run only.");
      } else {
        show(place);
      }
    });
  }

  const outcome = (episode) => data.strings[episode[0]];
  const next = one("[data-next]");
  if (next) {
    next.addEventListener("click", () => {
      const count = data.episodes.length;
      for (let ahead = 1; ahead <= count; ahead += 1) {
        const place = (Math.max(shown, 0) + ahead) % count;
        if (outcome(data.episodes[place]) === "failure") {
          show(place);
          return;
        }
      }
    });
  }

  function follow() {
    const found = /^#episode-(\d+)$/.exec(window.location.hash);
    if (found && Number(found[1]) < data.episodes.length) {
      show(Number(found[1]));
      course.scrollIntoView();
    }
  }

  window.addEventListener("hashchange", follow);
  mark();
  follow();
})();
