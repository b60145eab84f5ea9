import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Grommet, Box, Heading, FormField, Select, DateInput, StarRating, RangeSelector, MaskedInput, FileInput, Text } from "grommet";
const state = (window.state = {});
function App() {
  const [stars, setStars] = useState(1);
  const [size, setSize] = useState("");
  Object.assign(state, { stars, size });
  return <Grommet><Box pad="medium" width="medium"><Heading level={1}>Review</Heading>
    <FormField label="Size worn" htmlFor="size"><Select id="size" name="size" placeholder="Not said" options={["Tiny", "Middling", "Huge"]} value={size} onChange={({ option }) => setSize(option)} /></FormField>
    <FormField label="Stars"><StarRating name="stars" value={stars} onChange={(event) => setStars(event.target.value)} /></FormField>
    <FormField label="Bought at" htmlFor="hour"><MaskedInput id="hour" mask={[{ length: [1, 2], regexp: /^[0-9]{1,2}$/, placeholder: "hh" }, { fixed: ":" }, { length: 2, regexp: /^[0-9]{1,2}$/, placeholder: "mm" }]} onChange={(event) => (state.hour = event.target.value)} /></FormField>
    <FormField label="Photo" htmlFor="photo"><FileInput id="photo" name="photo" onChange={(_, { files }) => (state.files = files)} /></FormField>
  </Box></Grommet>;
}
createRoot(document.getElementById("root")).render(<App />);
