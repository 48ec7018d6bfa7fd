// Loads the font at once, before any text needs it. A canvas keeps the font that it was drawn with,
// so charts that were drawn before it arrived are drawn again.
"use strict";
{
  const faces = [...document.fonts].map((face) => face.load());
  Promise.all(faces).then(
    () => dispatchEvent(new Event("stylechange")),
    () => {}, // the system's font stays
  );
}
