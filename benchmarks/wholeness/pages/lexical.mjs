import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from "lexical";
import { $createLinkNode, LinkNode } from "@lexical/link";
import { $createHeadingNode, HeadingNode, QuoteNode, registerRichText } from "@lexical/rich-text";

const root = document.getElementById("root");
root.innerHTML = "<h1>Reply</h1><button>Bold</button><div id='text' contenteditable='true' aria-label='Reply' role='textbox'></div><button>Send</button>";
const editor = createEditor({ namespace: "reply", nodes: [HeadingNode, QuoteNode, LinkNode], onError: console.error });
editor.setRootElement(document.getElementById("text"));
registerRichText(editor);
editor.update(() => {
  const link = $createLinkNode("https://example.com").append($createTextNode("the page"));
  $getRoot().append($createHeadingNode("h2").append($createTextNode("Hello")), $createParagraphNode().append($createTextNode("Look at "), link));
});
