import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Toaster, toast } from "sonner";
function App() {
  const [mails, setMails] = useState(["Invoice", "Newsletter", "Party"]);
  window.mails = mails;
  const archive = (mail) => { setMails(mails.filter((one) => one !== mail)); toast(`${mail} archived`, { duration: 8000, action: { label: "Undo", onClick: () => { window.undone = mail; setMails(mails); } } }); };
  return <><h1>Mail</h1><ul>{mails.map((mail) => <li key={mail}>{mail} <button onClick={() => archive(mail)}>Archive</button></li>)}</ul><Toaster /></>;
}
createRoot(document.getElementById("root")).render(<App />);
