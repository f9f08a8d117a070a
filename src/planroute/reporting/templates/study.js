"use strict";
(() => {
  document.documentElement.classList.add("js");
  const find = document.querySelector("[data-find]");
  const boxes = [...document.querySelectorAll("input[data-verdict]")];
  const rows = [...document.querySelectorAll("[data-claims] tbody tr")];
  const plain = (text) => text.toLowerCase().replace(/\u2212/g, "-").replace(/(\d),(?=\d{3})/g, "$1");
  const texts = rows.map((row) => plain(row.textContent));
  const numbers = rows.map((row) => new Set((row.dataset.numbers || "").split(" ").filter(Boolean).map(Number)));
  const fits = (word, i) => {
    if (texts[i].includes(word)) return true;
    const value = Number(word.replace(/[%+×x\u00d7]/g, ""));
    return word !== "" && Number.isFinite(value) && [...numbers[i]].some((x) => Math.abs(x - value) <= 1e-9 * Math.abs(x));
  };
  const show = () => {
    const words = plain(find.value).split(/\s+/).filter(Boolean);
    const kept = new Set(boxes.filter((box) => box.checked).map((box) => box.dataset.verdict));
    rows.forEach((row, i) => {
      row.hidden = !(kept.has(row.dataset.verdict) && words.every((word) => fits(word, i)));
    });
  };
  find.addEventListener("input", show);
  boxes.forEach((box) => box.addEventListener("change", show));
})();
