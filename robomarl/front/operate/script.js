// The E-stop and the watch over the connection. Both work without the rest of the page: plain requests, no library.
(() => {
  const RETRY_MS = 200, ALIVE_MS = 1000, PATIENCE_MS = 2500;
  let pressing = false, heard = performance.now();

  const say = (text) => {
    const banner = document.getElementById("banner");
    if (!banner) return;
    banner.hidden = !text;
    if (banner.textContent !== text) banner.textContent = text;
  };

  const request = (path, options) => {
    const ends = new AbortController();
    const timer = setTimeout(() => ends.abort(), PATIENCE_MS);
    return fetch(path, { ...options, signal: ends.signal, cache: "no-store" }).finally(() => clearTimeout(timer));
  };

  const press = async () => {
    if (pressing) return;
    pressing = true;
    const button = document.getElementById("estop");
    button?.classList.add("pressing");
    for (let attempt = 0; pressing; attempt++) {
      try {
        const answer = await request(`/estop?page=${window.robomarlPage ?? ""}`, { method: "POST", keepalive: true });
        if (answer.ok) break;
      } catch { /* tried again below */ }
      say("E-STOP NOT DELIVERED, trying again. Use the stop switches of the robots.");
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
    pressing = false;
    button?.classList.remove("pressing");
  };

  // On pointerdown, not on click: a finger that slips off the button has pressed it.
  document.addEventListener("pointerdown", (event) => {
    if (event.target.closest?.("#estop")) press();
  }, true);
  // A click without a pointer is Enter, or a screen reader.
  document.addEventListener("click", (event) => {
    if (event.detail === 0 && event.target.closest?.("#estop")) press();
  }, true);
  document.addEventListener("keydown", (event) => {
    if (!(event.code === "Space" && event.shiftKey) && event.key !== "Pause") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) press();
  }, true);
  document.addEventListener("keyup", (event) => {  // a button in focus must not take the Space for itself
    if (event.code === "Space" && event.shiftKey) { event.preventDefault(); event.stopImmediatePropagation(); }
  }, true);

  setInterval(async () => {
    try {
      const answer = await request("/alive");
      const { age_s } = await answer.json();
      if (age_s > 2) return say(`The server has not looked at the team for ${age_s.toFixed(0)} s. Figures are old.`);
      heard = performance.now();
      if (!pressing) say("");
    } catch {
      const silent = ((performance.now() - heard) / 1000).toFixed(0);
      say(`No connection for ${silent} s. Robots fly on without this page, and its E-stop does not reach them: ` +
        "use another page or the stop switches. The page returns by itself.");
    }
  }, ALIVE_MS);
})();
