import { createRoot } from "react-dom/client";
import * as A from "react-aria-components";

const Field = ({ label, children, as: As = A.TextField, ...rest }) => <As {...rest}><A.Label>{label}</A.Label>{children ?? <A.Input />}</As>;
function Trip() {
  return (
    <main>
      <A.Form>
        <Field label="Name" isRequired /><Field label="Search" as={A.SearchField}><A.Input /><A.Button>✕</A.Button></Field>
        <Field label="People" as={A.NumberField} defaultValue={2}><A.Group><A.Button slot="decrement">-</A.Button><A.Input /><A.Button slot="increment">+</A.Button></A.Group></Field>
        <A.DateField><A.Label>Birthday</A.Label><A.DateInput>{(segment) => <A.DateSegment segment={segment} />}</A.DateInput></A.DateField>
        <A.Slider defaultValue={30}><A.Label>Budget</A.Label><A.SliderOutput /><A.SliderTrack style={{ height: 20, width: 200 }}><A.SliderThumb style={{ width: 16, height: 16, background: "gray", top: 10 }} /></A.SliderTrack></A.Slider>
        <A.Switch>Return trip</A.Switch><A.Checkbox>Insurance</A.Checkbox>
        <A.RadioGroup><A.Label>Class</A.Label><A.Radio value="1">First</A.Radio><A.Radio value="2">Second</A.Radio></A.RadioGroup>
        <A.Select id="city"><A.Label>City</A.Label><A.Button><A.SelectValue /><span>▾</span></A.Button><A.Popover><A.ListBox>{["Ulm", "Bonn", "Kiel"].map((c) => <A.ListBoxItem key={c} id={c}>{c}</A.ListBoxItem>)}</A.ListBox></A.Popover></A.Select>
        <A.ComboBox><A.Label>Train</A.Label><A.Input /><A.Button>▾</A.Button><A.Popover><A.ListBox><A.ListBoxItem>ICE 1</A.ListBoxItem><A.ListBoxItem>RE 5</A.ListBoxItem></A.ListBox></A.Popover></A.ComboBox>
        <A.ToggleButton>Window</A.ToggleButton><A.Button type="submit" id="send">Send</A.Button>
      </A.Form>
      <A.MenuTrigger><A.Button id="menu">Actions</A.Button><A.Popover><A.Menu><A.MenuItem>Copy</A.MenuItem><A.MenuItem>Cut</A.MenuItem>
        <A.SubmenuTrigger><A.MenuItem>Share</A.MenuItem><A.Popover><A.Menu><A.MenuItem>Mail</A.MenuItem></A.Menu></A.Popover></A.SubmenuTrigger></A.Menu></A.Popover></A.MenuTrigger>
      <A.DialogTrigger><A.Button id="dialog">Details</A.Button><A.Modal><A.Dialog>{({ close }) => <><A.Heading slot="title">Details</A.Heading><Field label="Note" /><A.Button onPress={close}>Close</A.Button></>}</A.Dialog></A.Modal></A.DialogTrigger>
      <A.Tabs><A.TabList aria-label="Views"><A.Tab id="a">Map</A.Tab><A.Tab id="b">List</A.Tab></A.TabList><A.TabPanel id="a">The map</A.TabPanel><A.TabPanel id="b">The list</A.TabPanel></A.Tabs>
      <A.Calendar aria-label="Day"><header><A.Button slot="previous">◀</A.Button><A.Heading /><A.Button slot="next">▶</A.Button></header><A.CalendarGrid>{(date) => <A.CalendarCell date={date} />}</A.CalendarGrid></A.Calendar>
      <A.Table aria-label="Trips" selectionMode="multiple"><A.TableHeader><A.Column><A.Checkbox slot="selection" /></A.Column><A.Column isRowHeader allowsSorting>To</A.Column><A.Column>Price</A.Column></A.TableHeader>
        <A.TableBody>{[1, 2, 3].map((n) => <A.Row key={n} id={n}><A.Cell><A.Checkbox slot="selection" /></A.Cell><A.Cell>City {n}</A.Cell><A.Cell>{n * 20} €</A.Cell></A.Row>)}</A.TableBody></A.Table>
      <A.GridList aria-label="Files" selectionMode="single">{["a.txt", "b.txt"].map((f) => <A.GridListItem key={f} textValue={f}>{f} <A.Button aria-label={`Open ${f}`}>⋯</A.Button></A.GridListItem>)}</A.GridList>
      <A.Tree aria-label="Folders" defaultExpandedKeys={["x"]}><A.TreeItem id="x" textValue="Photos"><A.TreeItemContent><A.Button slot="chevron">▸</A.Button>Photos</A.TreeItemContent><A.TreeItem textValue="2026"><A.TreeItemContent>2026</A.TreeItemContent></A.TreeItem></A.TreeItem></A.Tree>
      <A.TagGroup onRemove={() => {}}><A.Label>Tags</A.Label><A.TagList><A.Tag textValue="red">red <A.Button slot="remove">✕</A.Button></A.Tag><A.Tag textValue="blue">blue <A.Button slot="remove">✕</A.Button></A.Tag></A.TagList></A.TagGroup>
      <A.Disclosure><A.Heading><A.Button slot="trigger">More</A.Button></A.Heading><A.DisclosurePanel>Nothing</A.DisclosurePanel></A.Disclosure>
    </main>
  );
}
createRoot(document.getElementById("root")).render(<Trip />);
