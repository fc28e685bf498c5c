// Sliders of a view switch its frames. A view's list of frames is loaded at the first touch, each frame when it is shown.
// Scripts and pictures alone are loaded, so that a page opened from a disk can do it as well.
"use strict";

(function () {
  const loaded = new Map(); // address: promise of what the script there hands over
  window.rnnlabTake = (content) => document.currentScript.dispatchEvent(new CustomEvent("taken", { detail: content }));

  function load(address) {
    if (!loaded.has(address)) {
      loaded.set(address, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.addEventListener("taken", (event) => resolve(event.detail));
        script.addEventListener("error", () => { loaded.delete(address); reject(new Error(address)); });
        script.src = address;
        document.head.append(script);
      }));
    }
    return loaded.get(address);
  }

  function prepare(view) {
    const form = view.querySelector(".controls");
    const sliders = [...form.querySelectorAll("input")];
    let newest = 0;
    sliders.forEach((slider) => {
      const labels = JSON.parse(slider.dataset.labels);
      slider.say = () => {
        slider.nextElementSibling.textContent = labels[slider.value];
        slider.setAttribute("aria-valuetext", labels[slider.value]);
      };
      slider.say();
      slider.addEventListener("input", () => show(slider));
      const button = slider.nextElementSibling.nextElementSibling;
      if (button && button.type === "button") addPlay(button, slider, show);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;

    async function show(moved) {
      const mine = ++newest;
      const list = await load(view.dataset.frames);
      const key = () => sliders.map((slider) => slider.value).join();
      if (!(key() in list.shown)) {
        sliders.forEach((slider) => { if (slider !== moved) slider.value = slider.dataset.start; });
      }
      sliders.forEach((slider) => slider.say());
      const [frame, finding] = list.frames[list.shown[key()]];
      const inside = document.createElement("template");
      inside.innerHTML = frame.startsWith("<") ? frame : await load(frame);
      const image = inside.content.querySelector("img");
      if (image) {
        image.loading = "eager";
        await image.decode().catch(() => { /* its words are shown in its place */ });
      }
      if (mine !== newest) return; // the reader has moved on
      view.querySelector(".frame").replaceChildren(inside.content);
      form.querySelector(".finding").textContent = finding;
    }
  }

  function addPlay(button, slider, show) {
    let timer = 0;
    button.addEventListener("click", () => {
      clearInterval(timer);
      timer = timer ? 0 : setInterval(() => {
        slider.value = slider.value === slider.max ? slider.min : Number(slider.value) + 1;
        show(slider);
      }, 400);
      button.setAttribute("aria-pressed", String(Boolean(timer)));
      button.textContent = timer ? "pause" : "play";
    });
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".moves").forEach(prepare));
})();
