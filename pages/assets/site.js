// What a page does beyond showing itself: the reader's choice of light or dark, kept in this browser alone; lists that
// open where there is room; a button that copies code; the key / for the search, Escape out of it. Pages are complete without it.
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
    const room = (width) => matchMedia(`(min-width: ${width}rem)`).matches;
    const contents = document.querySelector(".contents details");
    const chapters = document.querySelector(".chapters details");
    if (contents) contents.open = room(66);
    if (chapters) chapters.open = room(contents ? 80 : 66);
    document.querySelectorAll("pre.code").forEach(addCopy);
    reachPictures();
    addEventListener("resize", reachPictures);
    const find = document.querySelector("#find, #search-words");
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target === find) find.blur();
      const writes = event.target.closest("input, textarea, select");
      if (event.key !== "/" || writes || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      find.focus();
    });
  });

  // Pictures that are wider than a telephone scroll sideways, by the keyboard too.
  function reachPictures() {
    document.querySelectorAll(".shown:has(img, svg), .frame").forEach((box) => {
      const scrolls = getComputedStyle(box).overflowX === "auto" && box.scrollWidth > box.clientWidth + 1;
      const about = { tabindex: "0", role: "group", "aria-label": "Picture, scrolls sideways" };
      for (const [name, value] of Object.entries(about)) scrolls ? box.setAttribute(name, value) : box.removeAttribute(name);
    });
  }

  // A button in the corner of a block of code; what it copies are the block's lines as they were written.
  function addCopy(block) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      button.textContent = (await copied(block.querySelector("code").textContent)) ? "copied" : "press Ctrl+C";
      setTimeout(() => { button.textContent = "copy"; }, 2000);
    });
    block.prepend(button); // where nothing hovers it floats beside the first line
  }

  async function copied(text) {
    try { await navigator.clipboard.writeText(text.replace(/\n$/, "")); return true; }
    catch { return false; } // a page without the right to the clipboard
  }
})();
