// The state of a view is in the address (#key=value&key=value), so that a link shows the same view.
// It is replaced in place: the Back button leaves the page.
"use strict";
{
  let parsed = new URLSearchParams();
  let parsedHash = "";

  // A view asks for a key at every point that it draws.
  function read() {
    const { hash } = location;
    if (hash !== parsedHash) {
      parsed = new URLSearchParams(hash.slice(1));
      parsedHash = hash;
    }
    return parsed;
  }

  function set(key, value) {
    const parameters = new URLSearchParams(read());
    if (value) parameters.set(key, value);
    else parameters.delete(key);
    const text = parameters.toString();
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    } catch {
      location.hash = text; // some browsers refuse replaceState() on file://
    }
  }

  window.tracker.state = {
    get: (key) => read().get(key) ?? "",
    set,
    // A key that holds several values, one per line.
    list: (key) => (read().get(key) ?? "").split("\n").filter(Boolean),
    toggleListItem(key, item) {
      const items = this.list(key);
      const rest = items.filter((other) => other !== item);
      set(key, (rest.length < items.length ? rest : [...items, item]).join("\n"));
    },
    onChange: (listener) => addEventListener("hashchange", listener),
  };
}
