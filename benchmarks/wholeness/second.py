"""The half of the pages that is held out while building, and measured at the end."""

from benchmarks.wholeness.page import Page

_REACT = ("react@19.3.1", "react-dom@19.3.1")
_QUASAR = ("quasar@2.34.0", "vue@3.5.45")
_CARBON = ("@carbon/web-components@2.63.0",)
_SPECTRUM = ("@spectrum-web-components/bundle@1.12.2",)
_IONIC = ("@ionic/core@9.0.5",)
_TIPTAP = ("@tiptap/core@3.34.0", "@tiptap/starter-kit@3.34.0", "@tiptap/pm@3.34.0")
_LEXICAL = ("lexical@0.52.0", "@lexical/rich-text@0.52.0", "@lexical/list@0.52.0", "@lexical/link@0.52.0")
_CKEDITOR = ("ckeditor5@48.5.2",)
_NAIVE = ("naive-ui@2.45.3", "vue@3.5.45")
_MANTINE = ("@mantine/core@9.7.4", "@mantine/hooks@9.7.4", *_REACT)
_SELECT2 = ("select2@4.1.0", "jquery@3.7.1", "choices.js@11.2.4")
_UIKIT = ("uikit@3.25.25",)
_HEADLESS = ("@headlessui/react@2.2.10", *_REACT)


def _page(name: str, source: str, packages: tuple[str, ...], *steps: str) -> Page:
    return Page(name, "second", packages, source, steps)


SECOND = (
    _page("Quasar, not valid", "quasar.html", _QUASAR, "click #send", "wait .q-field--error"),
    _page("Quasar, dialog", "quasar.html", _QUASAR, "click #ask", "wait .q-dialog .q-btn"),
    _page("Carbon", "carbon.mjs", _CARBON, "wait cds-pagination"),
    _page(
        "Carbon, list open",
        "carbon.mjs",
        _CARBON,
        "click #zone .cds--list-box__field",
        "wait #zone [aria-expanded=true]",
    ),
    _page("Carbon, dialog", "carbon.mjs", _CARBON, "click #ask", "wait cds-modal[open]"),
    _page("Spectrum", "spectrum.mjs", _SPECTRUM, "wait sp-slider"),
    _page("Spectrum, menu", "spectrum.mjs", _SPECTRUM, "click #more", "wait #more[open]"),
    _page("Ionic", "ionic.html", _IONIC, "wait ion-fab-button.hydrated"),
    _page("Ionic, question", "ionic.html", _IONIC, "click #ask", "wait .alert-button"),
    _page("Tiptap", "tiptap.mjs", _TIPTAP, "wait .ProseMirror"),
    _page("Lexical", "lexical.mjs", _LEXICAL, "wait #text a"),
    _page("CKEditor", "ckeditor.html", _CKEDITOR, "wait .ck-editor__editable"),
    _page("CKEditor, list open", "ckeditor.html", _CKEDITOR, "click .ck-heading-dropdown button"),
    _page("RevoGrid", "revogrid.mjs", ("@revolist/revogrid@4.28.1",), "wait revogr-data .rgCell"),
    _page("ECharts", "echarts.html", ("echarts@6.1.0",), "wait #svg svg"),
    _page("bpmn-js, shape chosen", "bpmn.html", ("bpmn-js@18.31.1",), "click g[data-element-id=t]"),
    _page("Naive UI, not valid", "naive_ui.html", _NAIVE, "click #send", "wait .n-form-item-feedback--error"),
    _page("Naive UI, menu", "naive_ui.html", _NAIVE, "click #more", "wait .n-dropdown-option"),
    _page("Mantine", "mantine.jsx", _MANTINE, "wait #soil"),
    _page("Mantine, menu", "mantine.jsx", _MANTINE, "click button:has-text('More')", "wait [role=menuitem]"),
    _page("jsTree, row hovered", "jstree.html", ("jstree@3.3.17", "jquery@3.7.1"), "hover .jstree-anchor"),
    _page(
        "TOAST UI Calendar",
        "toast_calendar.html",
        ("@toast-ui/calendar@2.1.3",),
        "wait .toastui-calendar-time",
    ),
    _page(
        "Jspreadsheet",
        "jspreadsheet.html",
        ("jspreadsheet-ce@5.0.4", "jsuites@5.13.5"),
        "wait .jss_worksheet td",
    ),
    _page("Gantt, row hovered", "gantt.html", ("dhtmlx-gantt@10.0.3",), "hover .gantt_row"),
    _page("Editor.js", "editorjs.html", ("@editorjs/editorjs@2.31.7",), "click .ce-paragraph"),
    _page("Video.js", "videojs.html", ("video.js@8.24.1",), "wait .vjs-big-play-button"),
    _page(
        "Select2, list open", "select2.html", _SELECT2, "click .select2-selection", "wait .select2-results"
    ),
    _page("React Flow", "xyflow.jsx", ("@xyflow/react@12.12.1", *_REACT), "wait .react-flow__node"),
    _page("UIkit, menu", "uikit.html", _UIKIT, "click #more", "wait .uk-navbar-dropdown.uk-open"),
    _page("UIkit, dialog", "uikit.html", _UIKIT, "click #ask", "wait .uk-modal.uk-open"),
    _page("Headless UI, menu", "headless_ui.jsx", _HEADLESS, "click #more", "wait [role=menuitem]"),
    _page("Headless UI, dialog", "headless_ui.jsx", _HEADLESS, "click #ask", "wait [role=dialog] button"),
    _page("Dash", "dash_app.py", ("dash==4.4.1",), "wait .dash-cell"),
    _page("Dash, list open", "dash_app.py", ("dash==4.4.1",), "click #city"),
    _page("Shiny", "shiny_app.py", ("shiny==1.8.0",), "wait .irs-handle"),
    _page("Bokeh", "bokeh_app.py", ("bokeh==3.9.2",), "wait .slick-row"),
    _page(
        "Datasette",
        "datasette_app.py",
        ("datasette==0.65.5",),
        "click a:has-text('parts')",
        "click a:has-text('parts') >> nth=-1",
    ),
    Page(
        "UIkit, in a frame of another site",
        "second",
        _UIKIT,
        "uikit.html",
        ("wait iframe >> internal:control=enter-frame >> #ask",),
        framed=True,
    ),
)
