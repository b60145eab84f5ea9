import { createRoot } from "react-dom/client";
import { useState } from "react";
import * as M from "@mui/material";

function Orders() {
  const [anchor, setAnchor] = useState(null);
  const [open, setOpen] = useState(false);
  const rows = Array.from({ length: 12 }, (_, n) => n + 1);
  return (
    <M.Container>
      <M.AppBar position="static"><M.Toolbar>
        <M.Typography sx={{ flexGrow: 1 }}>Orders</M.Typography>
        <M.Button color="inherit" id="more" onClick={(event) => setAnchor(event.currentTarget)}>More</M.Button>
        <M.Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
          {["Export", "Import", "Settings"].map((word) => <M.MenuItem key={word}>{word}</M.MenuItem>)}
        </M.Menu>
      </M.Toolbar></M.AppBar>
      <M.TextField label="Customer" required error helperText="Needed" margin="normal" />
      <M.TextField select label="Size" defaultValue="m" margin="normal">
        <M.MenuItem value="m">Medium</M.MenuItem><M.MenuItem value="l">Large</M.MenuItem>
      </M.TextField>
      <M.Autocomplete multiple options={["Tea", "Milk", "Bread"]} defaultValue={["Tea"]} renderInput={(p) => <M.TextField {...p} label="Goods" />} />
      <M.Slider defaultValue={[20, 60]} aria-label="Price" getAriaLabel={(i) => (i ? "Highest" : "Lowest")} />
      <M.Rating defaultValue={3} name="rating" />
      <M.FormControlLabel control={<M.Switch defaultChecked />} label="Gift" />
      <M.FormControlLabel control={<M.Checkbox />} label="Rush" />
      <M.RadioGroup defaultValue="a" aria-label="Shipping">
        <M.FormControlLabel value="a" control={<M.Radio />} label="Post" /><M.FormControlLabel value="b" control={<M.Radio />} label="Courier" />
      </M.RadioGroup>
      <M.ToggleButtonGroup exclusive value="left" aria-label="Align"><M.ToggleButton value="left">Left</M.ToggleButton><M.ToggleButton value="right">Right</M.ToggleButton></M.ToggleButtonGroup>
      <M.Tabs value={0}><M.Tab label="Open" /><M.Tab label="Closed" /></M.Tabs>
      <M.Accordion><M.AccordionSummary>History</M.AccordionSummary><M.AccordionDetails><M.Button>Load more</M.Button></M.AccordionDetails></M.Accordion>
      <M.Chip label="gift" onDelete={() => {}} onClick={() => {}} />
      <M.Table size="small"><M.TableHead><M.TableRow><M.TableCell padding="checkbox"><M.Checkbox aria-label="All" /></M.TableCell>
        <M.TableCell><M.TableSortLabel active direction="asc">Name</M.TableSortLabel></M.TableCell><M.TableCell /></M.TableRow></M.TableHead>
        <M.TableBody>{rows.map((n) => <M.TableRow hover key={n} onClick={() => {}}><M.TableCell padding="checkbox"><M.Checkbox /></M.TableCell><M.TableCell>Order {n}</M.TableCell>
          <M.TableCell><M.IconButton aria-label="Edit"><span>✎</span></M.IconButton><M.IconButton><svg width="16" height="16"><path d="M2 2h12v12H2z" /></svg></M.IconButton></M.TableCell></M.TableRow>)}</M.TableBody></M.Table>
      <M.Pagination count={10} />
      <M.Button id="delete" onClick={() => setOpen(true)}>Delete</M.Button>
      <M.Dialog open={open} onClose={() => setOpen(false)}><M.DialogTitle>Delete all?</M.DialogTitle>
        <M.DialogContent><M.TextField label="Type DELETE" /></M.DialogContent>
        <M.DialogActions><M.Button onClick={() => setOpen(false)}>Cancel</M.Button><M.Button>Delete</M.Button></M.DialogActions></M.Dialog>
      <M.SpeedDial ariaLabel="Create" icon={<span>+</span>}><M.SpeedDialAction icon={<span>o</span>} slotProps={{ tooltip: { title: "Order" } }} /></M.SpeedDial>
    </M.Container>
  );
}
createRoot(document.getElementById("root")).render(<Orders />);
