// Search over the sections of all pages: the index lies beside this script, so that it works from a disk as well.
"use strict";

(function () {
  const MOST = 40; // results shown
  const AROUND = 70; // letters shown on each side of a match
  const ENDING = /(?<=\p{L}{4})(ing|ed|es|s)$/u;
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  // Where a word begins, whatever its ending: "vanishing" finds "vanishes", and "race" does not find "trace".
  function pattern(word) {
    const letters = word.replace(ENDING, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(?<![\\p{L}\\p{N}])${letters}`, "giu");
  }

  const count = (text, wanted) => (text.match(wanted) || []).length;

  // A section matches if it holds every word; words in a heading count ten times.
  function find(query) {
    const wanted = words(query).map(pattern);
    if (!wanted.length) return [];
    const matches = [];
    for (const section of window.RNNLAB_SECTIONS) {
      const heading = `${section.page} ${section.title}`;
      const counts = wanted.map((word) => [count(heading, word), count(section.text, word)]);
      if (!counts.every(([above, below]) => above || below)) continue;
      const score = counts.reduce((sum, [above, below]) => sum + (above ? 10 : 0) + Math.min(5, below), 0);
      matches.push({ section, score });
    }
    return matches.sort((a, b) => b.score - a.score);
  }

  // The first whole words of a text, in so many letters.
  const cut = (text, letters) =>
    text.length > letters ? text.slice(0, letters).replace(/\s\S*$/, "") + " …" : text;

  // The words around the first match, with the match marked.
  function excerpt(section, word) {
    const paragraph = document.createElement("p");
    const place = section.text.search(pattern(word));
    if (place < 0) { paragraph.textContent = cut(section.text, 2 * AROUND); return paragraph; }
    const before = section.text.slice(Math.max(0, place - AROUND), place);
    const mark = document.createElement("mark");
    mark.textContent = section.text.match(pattern(word))[0];
    paragraph.append(
      place > AROUND ? "… " + before.replace(/^\S*\s/, "") : before, mark,
      cut(section.text.slice(place + mark.textContent.length), AROUND));
    return paragraph;
  }

  function show(query, list, status) {
    const matches = find(query);
    list.replaceChildren(...matches.slice(0, MOST).map(({ section }) => {
      const link = document.createElement("a");
      link.href = section.url;
      link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
      const item = document.createElement("li");
      item.append(link, excerpt(section, words(query)[0]));
      return item;
    }));
    const many = matches.length === 1 ? "1 section holds" : `${matches.length} sections hold`;
    status.textContent = query.trim()
      ? `${many} these words${matches.length > MOST ? `; the best ${MOST} are shown` : ""}.` : "";
  }

  document.addEventListener("DOMContentLoaded", () => {
    const field = document.querySelector("#search-words");
    const list = document.querySelector("#search-results");
    const status = document.querySelector("#search-status");
    field.value = new URLSearchParams(location.search).get("q") || "";
    const update = () => show(field.value, list, status);
    field.addEventListener("input", update);
    field.form.addEventListener("submit", (event) => { event.preventDefault(); update(); });
    update();
    if (field.value) field.focus(); // the results come next
  });
})();
