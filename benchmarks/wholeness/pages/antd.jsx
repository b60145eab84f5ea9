import { createRoot } from "react-dom/client";
import { useState } from "react";
import { AutoComplete, Button, Calendar, Cascader, Checkbox, ColorPicker, DatePicker, Dropdown, Form, Input, InputNumber, Modal, Radio, Rate, Segmented, Select, Slider, Switch, Table, Tabs, Tag, Transfer, Tree, Upload } from "antd";

const rows = Array.from({ length: 30 }, (_, n) => ({ key: n, name: `Person ${n + 1}`, age: 20 + (n % 40) }));
const columns = [
  { title: "Name", dataIndex: "name", sorter: (a, b) => a.name.localeCompare(b.name), render: (text) => <a>{text}</a> },
  { title: "Age", dataIndex: "age", filters: [{ text: "Young", value: "y" }] },
  { title: "Do", render: () => <><Button size="small">Edit</Button> <a href="#drop">Drop</a></> },
];
function People() {
  const [open, setOpen] = useState(false);
  return (
    <main style={{ padding: 16 }}>
      <Form labelCol={{ span: 4 }} wrapperCol={{ span: 10 }}>
        <Form.Item label="Name" name="name" rules={[{ required: true }]}><Input allowClear /></Form.Item>
        <Form.Item label="Word" name="word"><Input.Password defaultValue="x" /></Form.Item>
        <Form.Item label="City" name="city" rules={[{ required: true }]}><Select showSearch options={["Ulm", "Bonn"].map((value) => ({ value }))} /></Form.Item>
        <Form.Item label="Tags" name="tags"><Select mode="multiple" options={["red", "blue"].map((value) => ({ value }))} defaultValue={["red"]} /></Form.Item>
        <Form.Item label="Area"><Cascader options={[{ value: "North", label: "North", children: [{ value: "Kiel", label: "Kiel" }] }]} /></Form.Item>
        <Form.Item label="Day"><DatePicker id="day" /></Form.Item>
        <Form.Item label="Amount"><InputNumber defaultValue={3} /></Form.Item>
        <Form.Item label="Level"><Slider defaultValue={30} /></Form.Item>
        <Form.Item label="Stars"><Rate defaultValue={2} /></Form.Item>
        <Form.Item label="On"><Switch /></Form.Item>
        <Form.Item label="Kind"><Radio.Group options={["A", "B"]} defaultValue="A" /> <Checkbox>Rush</Checkbox></Form.Item>
        <Form.Item label="View"><Segmented options={["Day", "Week"]} /></Form.Item>
        <Form.Item label="Find"><AutoComplete options={[{ value: "tea" }]} /></Form.Item>
        <Form.Item label="Colour"><ColorPicker /></Form.Item>
        <Form.Item label="File"><Upload><Button>Choose</Button></Upload></Form.Item>
        <Button htmlType="submit" id="send">Send</Button>
      </Form>
      <Dropdown trigger={["click"]} menu={{ items: [{ key: 1, label: "Copy" }, { key: 2, label: "Move" }] }}><Button id="more">More</Button></Dropdown>
      <Button id="ask" onClick={() => setOpen(true)}>Delete</Button>
      <Modal open={open} title="Sure?" onCancel={() => setOpen(false)}>It is final.</Modal>
      <Tag closable>red</Tag>
      <Tabs type="editable-card" items={[{ key: 1, label: "Open", closable: true }, { key: 2, label: "Closed" }]} />
      <Tree checkable defaultExpandAll treeData={[{ title: "Fruit", key: "f", children: [{ title: "Apple", key: "a" }] }]} />
      <Transfer dataSource={["x", "y"].map((key) => ({ key, title: key }))} render={(item) => item.title} />
      <Table rowSelection={{}} columns={columns} dataSource={rows} expandable={{ expandedRowRender: () => "more" }} />
      <Calendar fullscreen={false} />
    </main>
  );
}
createRoot(document.getElementById("root")).render(<People />);
