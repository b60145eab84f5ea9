import { createRoot } from "react-dom/client";
import { Accordion, AlertDialog, Checkbox, ContextMenu, DropdownMenu, Label, Menubar, NavigationMenu, Popover, RadioGroup, ScrollArea, Select, Slider, Switch, Tabs, Toggle, ToggleGroup, Toolbar } from "radix-ui";

const box = { width: 24, height: 24, border: "1px solid" };
function Settings() {
  return (
    <main>
      <Menubar.Root><Menubar.Menu><Menubar.Trigger id="file">File</Menubar.Trigger><Menubar.Portal><Menubar.Content style={{ background: "white" }}><Menubar.Item>New</Menubar.Item><Menubar.CheckboxItem checked>Word wrap</Menubar.CheckboxItem>
        <Menubar.RadioGroup value="a"><Menubar.RadioItem value="a">Large</Menubar.RadioItem><Menubar.RadioItem value="b">Small</Menubar.RadioItem></Menubar.RadioGroup></Menubar.Content></Menubar.Portal></Menubar.Menu>
        <Menubar.Menu><Menubar.Trigger>Edit</Menubar.Trigger></Menubar.Menu></Menubar.Root>
      <NavigationMenu.Root><NavigationMenu.List style={{ display: "flex" }}><NavigationMenu.Item><NavigationMenu.Trigger>Learn</NavigationMenu.Trigger><NavigationMenu.Content><a href="#a">Guides</a></NavigationMenu.Content></NavigationMenu.Item><NavigationMenu.Item><NavigationMenu.Link href="#b">Blog</NavigationMenu.Link></NavigationMenu.Item></NavigationMenu.List></NavigationMenu.Root>
      <form>
        <Checkbox.Root id="terms" style={box}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root><Label.Root htmlFor="terms">Terms</Label.Root>
        <Switch.Root id="dark" style={{ ...box, width: 40 }}><Switch.Thumb /></Switch.Root><label htmlFor="dark">Dark</label>
        <RadioGroup.Root defaultValue="a" aria-label="Density"><RadioGroup.Item value="a" id="ra" style={box} /><label htmlFor="ra">Cosy</label><RadioGroup.Item value="b" id="rb" style={box} /><label htmlFor="rb">Dense</label></RadioGroup.Root>
        <Slider.Root defaultValue={[40]} name="volume" style={{ display: "flex", position: "relative", width: 200, height: 20 }}><Slider.Track style={{ flexGrow: 1, background: "silver" }}><Slider.Range /></Slider.Track><Slider.Thumb aria-label="Volume" style={{ ...box, display: "block" }} /></Slider.Root>
        <Select.Root defaultValue="ulm" name="city"><Select.Trigger id="city" aria-label="City"><Select.Value /><Select.Icon /></Select.Trigger><Select.Portal><Select.Content style={{ background: "white" }}><Select.Viewport>{["ulm", "bonn", "kiel"].map((c) => <Select.Item key={c} value={c}><Select.ItemText>{c}</Select.ItemText></Select.Item>)}</Select.Viewport></Select.Content></Select.Portal></Select.Root>
      </form>
      <DropdownMenu.Root><DropdownMenu.Trigger id="more">More</DropdownMenu.Trigger><DropdownMenu.Portal><DropdownMenu.Content style={{ background: "white" }}><DropdownMenu.Item>Rename</DropdownMenu.Item><DropdownMenu.Item disabled>Share</DropdownMenu.Item><DropdownMenu.Sub><DropdownMenu.SubTrigger>Move to</DropdownMenu.SubTrigger></DropdownMenu.Sub></DropdownMenu.Content></DropdownMenu.Portal></DropdownMenu.Root>
      <ContextMenu.Root><ContextMenu.Trigger style={{ display: "block", width: 200, height: 50, border: "1px dashed" }}>Right click here</ContextMenu.Trigger></ContextMenu.Root>
      <Popover.Root><Popover.Trigger id="size">Size</Popover.Trigger><Popover.Portal><Popover.Content style={{ background: "white" }}><label>Width <input defaultValue="100" /></label><Popover.Close aria-label="Close">×</Popover.Close></Popover.Content></Popover.Portal></Popover.Root>
      <Toggle.Root>Bold</Toggle.Root><ToggleGroup.Root type="single" aria-label="Align"><ToggleGroup.Item value="l">Left</ToggleGroup.Item><ToggleGroup.Item value="r">Right</ToggleGroup.Item></ToggleGroup.Root>
      <Toolbar.Root aria-label="Format"><Toolbar.Button>Cut</Toolbar.Button><Toolbar.Link href="#x">Edited</Toolbar.Link></Toolbar.Root>
      <Tabs.Root defaultValue="a"><Tabs.List><Tabs.Trigger value="a">Account</Tabs.Trigger><Tabs.Trigger value="b">Billing</Tabs.Trigger></Tabs.List><Tabs.Content value="a"><button>Save</button></Tabs.Content></Tabs.Root>
      <Accordion.Root type="single" collapsible><Accordion.Item value="a"><Accordion.Header><Accordion.Trigger>Shipping</Accordion.Trigger></Accordion.Header><Accordion.Content>Two days</Accordion.Content></Accordion.Item></Accordion.Root>
      <ScrollArea.Root style={{ height: 80, width: 200, overflow: "hidden" }}><ScrollArea.Viewport style={{ height: "100%" }}>{Array.from({ length: 20 }, (_, n) => <div key={n}><button>Version {n + 1}</button></div>)}</ScrollArea.Viewport></ScrollArea.Root>
      <AlertDialog.Root><AlertDialog.Trigger id="delete">Delete</AlertDialog.Trigger><AlertDialog.Portal><AlertDialog.Overlay /><AlertDialog.Content><AlertDialog.Title>Sure?</AlertDialog.Title><AlertDialog.Description>It is final.</AlertDialog.Description><AlertDialog.Cancel>Keep</AlertDialog.Cancel><AlertDialog.Action>Delete</AlertDialog.Action></AlertDialog.Content></AlertDialog.Portal></AlertDialog.Root>
    </main>
  );
}
createRoot(document.getElementById("root")).render(<Settings />);
