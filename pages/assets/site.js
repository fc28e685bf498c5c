// The reader's choice of light or dark, kept in this browser alone; without this script the system's setting holds.
"use strict";

(function () {
  const root = document.documentElement;
  const apply = (theme) => { theme ? (root.dataset.theme = theme) : delete root.dataset.theme; };
  let kept = "";
  try { kept = localStorage.getItem("rnnlab-theme") || ""; } catch { /* pages from a disk may have no storage */ }
  apply(kept);

  document.addEventListener("DOMContentLoaded", () => {
    const label = document.querySelector(".theme");
    const choice = label.querySelector("select");
    choice.value = kept;
    label.hidden = false;
    choice.addEventListener("change", () => {
      apply(choice.value);
      try { localStorage.setItem("rnnlab-theme", choice.value); } catch { /* as above */ }
    });
    const contents = document.querySelector(".contents details");
    if (contents && matchMedia("(max-width: 65.99rem)").matches) contents.open = false;
  });
})();
