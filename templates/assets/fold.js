// The parts of a long page fold. The address holds which are closed, and a link to a part opens it.
"use strict";
{
  const { dom, state } = window.tracker;
  const parts = dom.all("details.fold");

  function remember({ target }) {
    const isListed = state.list("fold").includes(target.id);
    if (isListed === target.open) state.toggleListItem("fold", target.id);
  }

  function restore() {
    const closed = state.list("fold");
    const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (const part of parts) part.open = !closed.includes(part.id) || part.contains(linked);
  }

  for (const part of parts) part.addEventListener("toggle", remember);
  state.onChange(restore);
  restore();
}
