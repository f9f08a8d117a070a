"use strict";
(() => {
  document.documentElement.classList.add("js");
  const find = document.querySelector("[data-find]");
  const boxes = [...document.querySelectorAll("input[data-verdict]")];
  const rows = [...document.querySelectorAll("[data-claims] tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = new Set(boxes.filter((box) => box.checked).map((box) => box.dataset.verdict));
    rows.forEach((row, i) => {
      row.hidden = !(kept.has(row.dataset.verdict) && words.every((word) => texts[i].includes(word)));
    });
  };
  find.addEventListener("input", show);
  boxes.forEach((box) => box.addEventListener("change", show));
})();
