// Questions of a lesson: what the reader answers stays in this browser and is set beside the outcome. Outcomes of predictions
// are covered until the reader has predicted, or does not wish to; without this script the page shows all of them.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const NAME = "rnnlab-answers " + location.pathname.split("/").pop();
  const COVER = "rnnlab-cover";
  const read = (name) => { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } };
  const write = (name, value) => { try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* no storage */ } };
  const answers = read(NAME) || {};
  const keep = (key, answer) => { answers[key] = answer; write(NAME, answers); };

  const note = document.querySelector(".quiz-note");
  const cover = note.querySelector("input");
  cover.checked = read(COVER) !== false;
  note.hidden = false;

  const guesses = [...document.querySelectorAll(".quiz.guess")].map((form) => {
    const outcome = form.nextElementSibling;
    const prose = document.querySelectorAll(`.prose > [data-question="${form.id}"]`); // what the lesson says of it
    const fields = [...form.querySelectorAll("input")];
    const places = [...outcome.querySelectorAll(".guessed")];
    const examples = places.map((place) => place.textContent);
    const state = { open: false };
    state.draw = () => {
      const guess = answers[form.dataset.key];
      fields.forEach((field, at) => { if (guess) field.value = guess[at] || ""; });
      const isOpen = Boolean(state.open || guess || !cover.checked);
      form.classList.toggle("open", isOpen);
      for (const one of [outcome, ...prose]) {
        if (isOpen) one.removeAttribute("hidden");
        else one.setAttribute("hidden", "until-found");
      }
      places.forEach((place, at) => {
        const written = guess && guess[place.dataset.field];
        place.textContent = written ? like(examples[at], written) : examples[at];
        place.classList.toggle("yours", Boolean(written));
      });
      const words = guess && fields.map((field, at) => (fields.length > 1 ? `${field.labels[0].textContent}: ` : "") + (guess[at] || "–"));
      form.querySelector("[role=status]").textContent = guess ? `You predicted ${words.join(", ")}. It came out like this:`
        : state.open && places.length ? "You have not predicted." : "";
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const written = fields.map((field) => field.value.trim());
      if (!written.some(Boolean)) { fields[0].focus(); return; }
      keep(form.dataset.key, written);
      guesses.forEach((one) => one.draw()); // a second outcome may wait for the same guess
    });
    form.querySelector(".show").addEventListener("click", () => { state.open = true; state.draw(); });
    for (const one of [outcome, ...prose]) one.addEventListener("beforematch", () => { state.open = true; state.draw(); }); // found by the browser's search
    form.hidden = false;
    state.draw();
    return state;
  });
  cover.addEventListener("change", () => { write(COVER, cover.checked); guesses.forEach((state) => state.draw()); });

  // A part of one that the lesson prints as per cent is shown as per cent.
  function like(example, written) {
    return example.endsWith("%") && Number(written) <= 1 ? `${Number((Number(written) * 100).toPrecision(3))}%` : written;
  }

  document.querySelectorAll(".quiz.answer").forEach((form) => {
    const text = form.querySelector("textarea");
    const judged = form.querySelector("fieldset");
    const details = [form.previousElementSibling, form.nextElementSibling].find((one) => one && one.matches("details"));
    const kept = answers[form.dataset.key] || {};
    const draw = () => { if (judged) judged.hidden = !(details.open && text.value.trim()); }; // without an answer there is nothing to judge
    text.value = kept.text || "";
    form.querySelectorAll("input").forEach((choice) => { choice.checked = choice.value === kept.same; });
    form.addEventListener("input", () => {
      const choice = form.querySelector(":checked");
      keep(form.dataset.key, { text: text.value, same: choice ? choice.value : "" });
      draw();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    if (judged) details.addEventListener("toggle", draw);
    form.hidden = false;
    draw();
  });

  note.querySelector("button").addEventListener("click", () => {
    try { localStorage.removeItem(NAME); } catch { /* no storage */ }
    location.reload();
  });
});
