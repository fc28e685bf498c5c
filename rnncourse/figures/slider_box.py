"""Widgets around a picture: sliders under it, a line with its finding, and names for those who hear the page.

ipywidgets gives its sliders no name that a screen reader could say.  A script, displayed beside each view,
takes the name from the label and the value from the words beside the slider, now and after each move.
"""

import html
from collections.abc import Callable, Mapping
from typing import Any

# runs in the page; once there, it watches for the sliders of later views as well
NAME_SLIDERS = """
(() => {
  const put = (element, key, value) => {  // only a change, for each is a change of the page as well
    if (value && element.getAttribute(key) !== value) element.setAttribute(key, value);
  };
  const name = () => document.querySelectorAll(".widget-slider").forEach(slider => {
    const label = slider.querySelector(".widget-label"), words = slider.querySelector(".widget-readout");
    const readout = words && words.textContent.trim();
    slider.querySelectorAll(".noUi-handle").forEach(handle => {
      put(handle, "aria-label", label && label.textContent.trim());
      put(handle, "aria-valuetext", readout);
    });
    if (words && label && words.isContentEditable) {
      put(words, "role", "textbox");
      put(words, "aria-label", label.textContent.trim() + ", value");
    }
  });
  if (!window.rnnlabNamesSliders) {
    const style = document.createElement("style");  // ipywidgets shows a focused handle by a thin border only
    style.textContent = ".widget-slider .noUi-handle:focus-visible {"
      + "outline: 3px solid var(--jp-ui-font-color1, CanvasText) !important; outline-offset: 2px}";
    document.head.append(style);
    const options = {childList: true, subtree: true, characterData: true};
    window.rnnlabNamesSliders = new MutationObserver(name);
    window.rnnlabNamesSliders.observe(document.body, options);
  }
  name();
})();
"""


def slider_box(
    show: Callable[..., tuple[str, str]], sliders: Mapping[str, Any], start: tuple[str, str]
) -> Any:
    """An ipywidgets box of picture, finding and one row for each slider.

    `show(**values)` gives (HTML of the picture, finding) at new values; `start` are both at the beginning.
    """
    import ipywidgets

    controls = {name: _control(ipywidgets, slider) for name, slider in sliders.items()}
    # not ipywidgets.Image: it has no text alternative, and given a title it breaks in the browser
    image = ipywidgets.HTML(start[0])
    line = ipywidgets.HTML(_status(start[1]))

    def redraw(_change) -> None:
        picture, finding = show(**{name: control.value for name, control in controls.items()})
        image.value = picture
        line.value = _status(finding)

    for control in controls.values():
        control.observe(redraw, names="value")
    rows = [_row(ipywidgets, sliders[name], control) for name, control in controls.items()]
    return ipywidgets.VBox([image, line, *rows])


def name_sliders() -> None:
    """Display the script that names the sliders of this page."""
    from IPython.display import display

    display({"application/javascript": NAME_SLIDERS}, raw=True)


def _control(ipywidgets, slider):
    look = {
        "description": slider.label,
        "tooltip": slider.label,
        "style": {"description_width": "11em"},
        "layout": {"width": "min(36em, 100%)"},
    }
    values = slider.values
    if isinstance(values[0], bool):
        return ipywidgets.Checkbox(values[slider.start], **look)
    if isinstance(values, range):  # a screen reader then hears the value; of a selection it hears the index
        start = values[slider.start]
        return ipywidgets.IntSlider(start, min=values[0], max=values[-1], step=values.step, **look)
    return ipywidgets.SelectionSlider(options=slider.options(), index=slider.start, **look)


def _row(ipywidgets, slider, control):
    """The slider, with a play button beside it if it has one (the two are tied in the browser)."""
    if not slider.play:
        return control
    values = slider.values
    limits = {"min": values[0], "max": values[-1], "step": values.step}
    play = ipywidgets.Play(value=control.value, interval=400, **limits)
    ipywidgets.jslink((play, "value"), (control, "value"))
    return ipywidgets.HBox([control, play])


def _status(text: str) -> str:
    return f'<div role="status" aria-live="polite" style="line-height:1.4">{html.escape(text)}</div>'
