import { createRoot } from "react-dom/client";
import { UncontrolledTreeEnvironment, Tree, StaticTreeDataProvider } from "react-complex-tree";
import "react-complex-tree/lib/style-modern.css";
const item = (index, children) => ({ index, data: index, isFolder: Boolean(children), children, canMove: true, canRename: true });
const items = (window.items = Object.fromEntries([item("root", ["Letters", "Photos", "Budget"]), item("Letters", ["To Ida", "To Max"]), item("Photos", ["Beach"]), item("Budget"), item("To Ida"), item("To Max"), item("Beach")].map((one) => [one.index, one])));
const provider = new StaticTreeDataProvider(items, (one, data) => ({ ...one, data }));
createRoot(document.getElementById("root")).render(<main style={{ width: 300 }}><h1>Files</h1><UncontrolledTreeEnvironment dataProvider={provider} getItemTitle={(one) => one.data} viewState={{ files: { expandedItems: ["Letters"] } }} canDragAndDrop canDropOnFolder canReorderItems onSelectItems={(names) => (window.selected = names)} onRenameItem={(one, name) => (window.renamed = [one.index, name])}><Tree treeId="files" rootItem="root" treeLabel="Files" /></UncontrolledTreeEnvironment></main>);
