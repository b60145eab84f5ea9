const form = /** @type {HTMLFormElement} */ (document.getElementById("enter"));
const token = /** @type {HTMLInputElement} */ (document.getElementById("token"));
const refused = /** @type {HTMLElement} */ (document.getElementById("refused"));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  refused.textContent = "";
  const headers = { Authorization: `Bearer ${token.value.trim()}` };
  const answer = await fetch("view/sign-in", { method: "POST", headers }).catch(() => null);
  if (answer?.ok) {
    location.replace("view");
    return;
  }
  const problem = await answer?.json().catch(() => null);
  refused.textContent = problem?.error_description ?? problem?.error?.message ?? "The server does not answer: try again.";
  token.select();
});

export {};
