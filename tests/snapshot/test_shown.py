"""What pages show, each with all lines of its snapshot."""

import re

import pytest

from tests.snapshot.hand import CLIPPED, Hand

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SHOWN = {
    "no root that delegates for the whole application": (
        "<div id=root><h1>Shop</h1><p>Many words of an application.</p><button>Buy</button></div><script>"
        "root.addEventListener('click', () => 0); document.addEventListener('click', () => 0)</script>",
        '# Shop / Many words of an application. / button "Buy"',
    ),
    "the outermost element with a hand, once": (
        "<div style='cursor: pointer'><span>Open</span> <b>card</b></div>",
        'clickable "Open card"',
    ),
    "a tab stop, and no focus target of scripts": (
        "<div tabindex=0>Reachable by key</div><main tabindex=-1>Only by script</main>",
        'clickable "Reachable by key" / Only by script',
    ),
    "no label without a control": ("<label>Nothing to fill</label>", "Nothing to fill"),
    "what can be dragged": (
        "<div draggable=true>Card to drag</div><p>Words</p>",
        'clickable "Card to drag" draggable / Words',
    ),
    "no paragraphs of an editor": (
        "<div contenteditable aria-label=Essay><p>First</p><p>Second <b>one</b></p></div>",
        'textbox "Essay" value="First⏎Second one"',
    ),
    "a checkbox in its label, once": ("<label><input type=checkbox> I agree</label>", 'checkbox "I agree"'),
    "a select that a widget replaces, once": (
        "<label for=s>Country</label><select id=s style='display: none'><option>France</option><option>Peru"
        "</option></select><div role=combobox tabindex=0 aria-label=Country aria-expanded=false>France</div>",
        'combobox "Country" expanded=false value="France"',
    ),
    "the button before a file field": (
        "<input type=file id=f hidden aria-label=Photo><button onclick='f.click()'>Choose a photo</button>",
        'button "Choose a photo"',
    ),
    "no closed dialog": ("<p>Words</p><dialog><p>Secret</p><button>Yes</button></dialog>", "Words"),
    "text before and after": (
        "<style>.p::before { content: 'Price: ' } .p::after { content: ' euro' }"
        " .q::before { content: attr(q) }</style><p class=p>12</p><p class=q q='Only generated'></p>",
        "Price: 12 euro / Only generated",
    ),
    "no children without a slot": (
        "<div id=h><button>Unslotted</button></div>"
        "<script>h.attachShadow({mode: 'open'}).innerHTML = '<b>Shown</b>'</script>",
        "Shown",
    ),
    "a closed root in a closed root": (
        "<div id=h></div><script>const r = h.attachShadow({mode: 'closed'}); r.innerHTML = '<p></p>';"
        " r.firstChild.attachShadow({mode: 'closed'}).innerHTML = '<button>Deeper</button>'</script>",
        'button "Deeper"',
    ),
    "media with controls": (
        "<video controls width=300 height=150 aria-label=Trailer></video><audio controls title=Song></audio>",
        'video "Trailer" paused / audio "Song" paused',
    ),
    "the text that stands for a picture": (
        f"<img src='{PIXEL}' width=50 height=50 alt='A cat'><img src='{PIXEL}' width=50 height=50 alt=''>",
        'image "A cat"',
    ),
    "a disabled fieldset disables all but its legend": (
        "<fieldset disabled><legend><button>In legend</button></legend><button>Inside</button></fieldset>",
        'group "In legend" /   button "In legend" /   button "Inside" disabled',
    ),
    "states of fields are told": (
        "<input aria-label=Fixed readonly value=7><input aria-label=Needed required>"
        "<input type=checkbox aria-label=Some id=m><script>m.indeterminate = true</script>"
        "<button aria-pressed=true>Bold</button><button aria-expanded=false>More</button>"
        "<div role=tab tabindex=0 aria-selected=true>Tab</div><a href=# aria-current=page>Here</a>"
        "<button aria-disabled=true>Later</button><input aria-label=Bad aria-invalid=true>"
        "<button aria-haspopup=menu>Menu</button>",
        'textbox "Fixed" value="7" readonly / textbox "Needed" required / checkbox "Some" '
        'checked=mixed / button "Bold" pressed / button "More" expanded=false / tab "Tab" selected '
        '/ link "Here" current / button "Later" disabled / textbox "Bad" invalid / button "Menu" '
        "haspopup=menu",
    ),
    "slotted content stands where the slot is": (
        "<my-card><button slot=actions>Slotted</button>Body words</my-card><script>"
        "customElements.define('my-card', class extends HTMLElement { constructor() { super();"
        "this.attachShadow({mode: 'open'}).innerHTML = '<h2>Card</h2><slot></slot><footer><slot name=actions>"
        "</slot><button>Own</button></footer>'; } })</script>",
        '## Card / Body words / button "Slotted" / button "Own"',
    ),
    "a box of a drawing without height is not told and a line is": (
        """<svg width=300 height=90><g onclick="1" style="pointer-events: all"><title>Menu</title>
        <rect width=16 height=0></rect></g><g onclick="1"><title>Wire</title>
        <path d="M10 40H90" stroke=red></path></g></svg>""",
        'clickable "Wire"',
    ),
    "a region that a component has put into itself again is told once": (
        """<x-tree role=tree aria-label=Folders></x-tree><script>
        const tree = document.querySelector('x-tree');
        tree.attachShadow({mode: 'open'}).innerHTML =
          '<label id=l>Folders</label><ul role=tree aria-labelledby=l><slot></slot></ul>';
        tree.innerHTML = '<li role=treeitem tabindex=0>Mail</li>';
        </script>""",
        'tree "Folders" /   treeitem "Mail"',
    ),
    "a list around a field does not take the fields label for its value": (
        "<div role=combobox tabindex=0 aria-expanded=false aria-labelledby=s><select id=s aria-hidden=true "
        "hidden><option selected>Never</select><input role=combobox tabindex=-1 readonly value=Never "
        "aria-labelledby=l><label id=l>Repeat</label></div>",
        'combobox "Never" expanded=false /   combobox "Repeat" value="Never" readonly',
    ),
    "what is shown within something hidden is told": (
        "<nav aria-label=Menu style='visibility: hidden'><button>Unseen</button>"
        "<div style='visibility: visible'><button>Seen</button> Words</div></nav>",
        'button "Seen" / Words',
    ),
    "a letter that the font of icons draws as a sign is no name": (
        "<style>.x-icon-reload::before { content: 'L'; font-family: signs }"
        ".icon-mail::before { content: 'M' }"
        "</style><button><i class=x-icon-reload></i></button><button><i class=icon-mail></i></button>",
        'button "" hint="reload" / button "M"',
    ),
    "a group of choices has what stands before it as hint": (
        "<p>Stars</p><div role=radiogroup><input type=radio aria-label=1></div>",
        'Stars / radiogroup "" hint="Stars" /   radio "1"',
    ),
    "an entry without a name says its place in its set": (
        "<div role=radiogroup aria-label=Stars>"
        + "".join(
            f"<b role=radio tabindex=0 aria-setsize=3 aria-posinset={at} aria-checked=false></b>"
            for at in (1, 2, 3)
        )
        + "</div><style>b { display: inline-block; width: 20px; height: 20px; background: gold }</style>",
        'radiogroup "Stars" /   radio "" hint="1 of 3" /   radio "" hint="2 of 3" /   radio "" hint="3 of 3"',
    ),
    "a button in a link is told beside it": (
        "<a href=#there><button>Save</button></a>",
        'link "Save" → #there /   button "Save"',
    ),
    "a hidden buttons icon is not offered in its place": (
        "<button style='visibility:hidden;cursor:pointer'><span role=img aria-label=clear>x</span></button>"
        "<div style='visibility:hidden'><iframe srcdoc='<input aria-label=Inner>'></iframe></div>",
        "(The page shows nothing.)",
    ),
    "what may be dragged one by one is told one by one": (
        "<div id=z><div>Write</div><div>Read</div><div><h4>Rest</h4><button>x</button></div></div>"
        "<p style='height: 900px'></p><script>z.ondrop = z.ondragover = () => 0</script>",
        'group "" droppable hint="z" /   clickable "Write" /   clickable "Read" /   clickable '
        '"Rest" /   button "x" / (0.5 screens below the view; everything is listed)',
    ),
    "a table in what takes drops keeps its rows": (
        "<div role=grid aria-label=Items><div id=z role=none style='height: 100px'><div role=row>"
        "<div role=gridcell>Box</div><div role=gridcell>2</div></div><div role=row>"
        "<div role=gridcell>Spoon</div><div role=gridcell>1</div></div></div></div>"
        "<script>for (const type of ['dragover', 'drop']) "
        "z.addEventListener(type, event => event.preventDefault())</script>",
        'grid "Items" /   group "" droppable hint="z" /     | Box | 2 | /     | Spoon | 1 |',
    ),
    "a ripple over a control is no element of its own": (
        "<style>.box { position: relative; display: inline-block; cursor: pointer }"
        ".box i { position: absolute; inset: 0 }</style><b class=box onclick=1>Play<i></i></b>"
        "<script>document.querySelector('.box i').addEventListener('pointerdown', () => 0)</script>",
        'clickable "Play"',
    ),
    "the label inside a combobox is no part of its value": (
        "<div role=combobox aria-label=Fruit tabindex=0><span>Fruit</span> <span>Banana</span></div>"
        "<div role=combobox aria-label=Town tabindex=0><span>Town hall</span></div>",
        'combobox "Fruit" value="Banana" / combobox "Town" value="Town hall"',
    ),
    "data in the cell before is no hint of a field": (
        """<table><tr><td>2<td><input class=a><td>Rome<td>12<td><input class=b></table>
        <table><tr><td>Tea<td>green<td><input type=checkbox class=c></table>
        <table><tr><td>Home<td><label>Town</label><td><input class=f></table>
        <table><tr><td>Name:<td><input class=d><td>Mail:<td><input class=e></table>""",
        '| 2 | textbox "" | Rome | 12 | textbox "" | / | Tea | green | checkbox "" | / | Home | '
        'Town | textbox "" hint="Town" | / | Name: | textbox "" hint="Name" | Mail: | textbox "" '
        'hint="Mail" |',
    ),
    "a label beside a field and a hidden list is its hint": (
        """<div><div><input readonly value=Choose><select tabindex=-1
        style="position: absolute; width: 0; height: 0; opacity: 0; pointer-events: none"><option>Tea</select>
        </div><label>Drink</label></div>""",
        'textbox "" value="Choose" readonly hint="Drink" / Drink',
    ),
    "what a part of a tab shows of the page is no icon": (
        """<div role=tablist><x-tab role=tab>Billing</x-tab></div><script>
        const root = document.querySelector('x-tab').attachShadow({ mode: 'open' });
        root.innerHTML = '<div role=presentation style="width: 90px; height: 30px"><slot></slot></div>';
        root.firstChild.addEventListener('click', () => 0)</script>""",
        'tablist "" /   tab "Billing"',
    ),
    "the word for a sign of an icon font is no part of a name": (
        """<style>b::before { content: "chevron_right"; font-family: "x-icons" }
        i::before { content: "new" }</style><a href=/a><b></b>Fruit</a> <a href=/b><i></i> Tea</a>""",
        'link "Fruit" → /a / link "new Tea" → /b',
    ),
    "what the component before a field says is no hint of it": (
        """<x-field></x-field><input class=own><script>
        document.querySelector('x-field').attachShadow({ mode: 'open' }).innerHTML =
          '<input aria-label=Town placeholder="No town"><b aria-label="None yet">!</b>'</script>""",
        'textbox "Town" / ! / textbox ""',
    ),
    "what tells more than its name keeps a line of its own": (
        "<table><tr><td>Tea<td><div role=button tabindex=0 aria-label=Buy>Buy"
        "<p>Only two left</p></div></table>",
        '| Tea | | /   button "Buy" /     Only two left',
    ),
    "a box that listens around a table of its own stays one element": (
        "<div onclick=1><table><tr><td>Price<td>5<tr><td>Stock<td>2</table></div>",
        'clickable "Price | 5 Stock | 2"',
    ),
    "the day of a calendar is selected where its cell is": (
        "<table role=grid><tr><td role=gridcell aria-selected=true><button>7</button>"
        "<td role=gridcell aria-selected=false><button>8</button></table>",
        '| button "7" selected | button "8" |',
    ),
    "a cell with an icon alone says which": (
        "<style>i::before { content: '*' }</style><table><tr><th>User<th>Admin<th>Guest</tr>"
        "<tr><td>ada<td><i class='fa fa-check'></i><td></tr></table>",
        "| User | Admin | Guest | / | ada | (check) |",
    ),
    "added text that is placed apart is a word of its own": (
        "<style>li::after { content: 'Press enter'; position: absolute; right: 0 }"
        " button::after { content: 'd' }</style>"
        "<ul role=listbox><li role=option>Chisel</li></ul><button>Name</button>",
        'listbox "" /   option "Chisel Press enter" / button "Named"',
    ),
    "swatches of one name say their colours and other buttons say none": (
        "<style>button { width: 20px; height: 20px }"
        ".dot { background: grey } .on { background: navy }</style>"
        "<button aria-label=Colour style='background: red'></button>"
        "<button aria-label=Colour style='background: lime'></button>"
        "<p><button class=dot></button><button class='dot on'></button><button class=dot></button></p>"
        "<p><button></button></p>",
        'button "Colour" hint="#ff0000" / button "Colour" hint="#00ff00" / button "" / button "" '
        'hint="on" / button "" / button ""',
    ),
    "a bar beside a long text does not quote it": (
        """<style>div { display: flex } div > * { flex: 1; height: 80px } div > i { flex: 0 0 8px }</style>
        <div><nav aria-label=Chats>Ada: see you then<p>Bob: where were you yesterday?</nav>
        <i style="cursor: col-resize"></i><main><h2>Ada</h2></main></div>
        <div><nav>Ada: see you then<p>Bob: where were you yesterday?</nav>
        <i style="cursor: col-resize"></i><main><h2>Ada</h2></main></div>""",
        'navigation "Chats" /   Ada: see you then /   Bob: where were you yesterday? / clickable '
        '"" hint="resize between Chats and Ada" / ## Ada / navigation "" /   Ada: see you then /   '
        'Bob: where were you yesterday? / clickable "" hint="resize" / ## Ada',
    ),
    "the colour of a control with a name or an icon is no hint": (
        """<style>button, a { display: inline-block; width: 20px; height: 20px }</style>
        <p><button aria-label=Close style='background: #fff'><svg></svg></button></p>
        <a id=facebook href=/f style='background: #3b5998'><svg><path d='M0 0h9v9z'/></svg></a>
        <button role=switch id=night style='background: green'></button>""",
        'button "Close" / link "" → /f hint="facebook" / switch "" hint="night"',
    ),
    "an application that takes files anywhere is no surface": (
        "<div id=root><p>Words of an application</p><button>Buy</button></div>"
        "<script>root.addEventListener('drop', () => 0); document.addEventListener('drop', () => 0)</script>",
        'Words of an application / button "Buy"',
    ),
    "a canvas is one whatever its role and a frame stays in what listens around it": (
        "<div onclick='0' style='height:200px'><iframe srcdoc='<button>Inner</button>' width=300></iframe>"
        "</div><canvas role=region aria-label=Map tabindex=0 width=200 height=100></canvas>",
        'iframe "" /   button "Inner" / canvas "Map"',
    ),
    "the cells that a drawn grid holds for screen readers are read": (
        "<canvas width=300 height=90 tabindex=0><table role=grid><tr><th></th><th>Name</th><th>Tags</th></tr>"
        "<tr><td></td><td>Ada</td><td>a|b</td></tr></table></canvas>",
        'canvas "" / |  | Name | Tags | / |  | Ada | a\\|b |',
    ),
    "white space in an element of its own parts words": (
        "<p><span>echo</span><span class=w> </span><span>one</span><b>two</b></p>",
        "echo onetwo",
    ),
    "a dialog that a style shows without its open attribute is told": (
        "<dialog style='display: flex' aria-label=Rename><input aria-label=Name></dialog>"
        "<dialog><button>Shut away</button></dialog>",
        'dialog "Rename" /   textbox "Name"',
    ),
    "what a slot shows in a box hidden from readers is shown": (
        "<x-list><x-item>Ash</x-item></x-list><script>const root = document.querySelector('x-list')"
        ".attachShadow({mode: 'open'});"
        " root.innerHTML = '<div aria-hidden=true><slot></slot></div>'</script>",
        "Ash",
    ),
    "a field stays one whatever its role says of it": (
        "<label>Amount <input type=number role=alert value=2></label>"
        "<textarea role=note aria-label=Why></textarea>",
        'spinbutton "Amount" value="2" / textbox "Why"',
    ),
    "a list drawn anew has one value not that of the native one too": (
        f"<div role=combobox tabindex=0 aria-label=Area aria-expanded=false>"
        f"<select style='{CLIPPED}'><option>North<option>South</select><div>North</div></div>",
        'combobox "Area" expanded=false value="North" options="North | South"',
    ),
    "a list that a component hides from readers and keys is not told for its label": (
        "<label for=city>City</label><select id=city tabindex=-1 aria-hidden=true style='position: absolute;"
        " width: 1px; height: 1px; opacity: 0'><option>Ulm</select><div role=combobox tabindex=0>Ulm</div>",
        'City / combobox "" value="Ulm" hint="City"',
    ),
    "radio buttons of one name say what is written on each": (
        "<label><input type=radio aria-label=Size>S</label>"
        "<label><input type=radio aria-label=Size> Large</label>"
        f"<label><input type=radio aria-label='How is it?' style='{CLIPPED}'><b>1</b></label>"
        "<label><input type=checkbox aria-label='Send me News'>News</label>",
        'radio "Size" text="S" / radio "Size" text="Large" / radio "How is it?" text="1" / '
        'checkbox "Send me News"',
    ),
}


@pytest.mark.parametrize(("html", "text"), SHOWN.values(), ids=SHOWN.keys())
async def test_what_is_shown_is_listed_once(hand: Hand, html: str, text: str) -> None:
    view = await hand.show(html)
    assert re.sub(r"\[\d+\] ", "", view.text).splitlines() == text.split(" / ")
