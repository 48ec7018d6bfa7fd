// Copies the summary of the last night as Markdown.
"use strict";
{
  const { dom } = window.tracker;
  const button = dom.byId("copy");
  const status = dom.byId("copied");
  const summary = dom.byId("summary");

  // Where the clipboard is closed to the page: shows the text, selected.
  function select() {
    summary.hidden = false;
    getSelection().selectAllChildren(summary);
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(summary.textContent);
      status.textContent = "copied";
    } catch {
      select();
      status.textContent = "select and copy the text below";
    }
  }

  button.hidden = false;
  button.addEventListener("click", copy);
}
