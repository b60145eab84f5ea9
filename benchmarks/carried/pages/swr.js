import { createElement } from "react";
import { createRoot } from "react-dom/client";
import useSWR from "swr";

const read = address => fetch(address).then(answer => answer.text());

function Stock() {
  const { data } = useSWR("/stock", read, { refreshInterval: 500 });
  return createElement("p", null, `In stock: ${data ?? "…"}`);
}

createRoot(carried).render(createElement(Stock));
