import { Editor } from "@tiptap/core";
import StarterKit from "@tiptap/starter-kit";

const root = document.getElementById("root");
root.innerHTML = "<h1>Minutes</h1><div role='toolbar' aria-label='Format'><button>Bold</button><button>List</button></div><div id='text'></div><button>Save</button>";
new Editor({ element: document.getElementById("text"), extensions: [StarterKit], content: "<h2>Today</h2><p>We met <strong>early</strong>, see <a href='https://example.com'>the notes</a>.</p><ul><li><p>Tea</p></li><li><p>Milk</p></li></ul><pre><code>a\nb</code></pre>" });
