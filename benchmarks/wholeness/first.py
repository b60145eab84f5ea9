"""The half of the pages that is used while building."""

from benchmarks.wholeness.page import Page

_JQUERY_UI = ("jquery-ui-dist@1.13.3", "jquery@3.7.1")
_VUETIFY = ("vuetify@4.3.0", "vue@3.5.45")
_ELEMENT_PLUS = ("element-plus@2.14.8", "vue@3.5.45")
_REACT = ("react@19.3.1", "react-dom@19.3.1")
_MUI = ("@mui/material@9.5.0", "@emotion/react@11.14.0", "@emotion/styled@11.14.1", *_REACT)
_RADIX = ("radix-ui@1.8.1", *_REACT)
_ANTD = ("antd@6.6.8", *_REACT)
_FLUENT = ("@fluentui/web-components@3.1.3",)
_MATERIAL_WEB = ("@material/web@2.5.0",)
_DATATABLES = ("datatables.net-dt@3.1.2", "datatables.net@3.1.2", "jquery@3.7.1")
_BOOTSTRAP = ("bootstrap@5.3.8",)
_FLASK_ADMIN = ("Flask-Admin==2.2.1", "Flask-SQLAlchemy==3.1.1", "tablib==3.8.0")
_REACT_ARIA = ("react-aria-components@1.22.1", *_REACT)


def _page(name: str, source: str, packages: tuple[str, ...], *steps: str) -> Page:
    return Page(name, "first", packages, source, steps)


FIRST = (
    _page("jQuery UI", "jquery_ui.html", _JQUERY_UI),
    _page(
        "jQuery UI, date picker", "jquery_ui.html", _JQUERY_UI, "click #day", "wait .ui-datepicker-calendar"
    ),
    _page("jQuery UI, dialog", "jquery_ui.html", _JQUERY_UI, "click #book", "wait .ui-dialog"),
    _page(
        "Vuetify, not valid", "vuetify.html", _VUETIFY, "click button[type=submit]", "wait .v-input--error"
    ),
    _page("Vuetify, menu", "vuetify.html", _VUETIFY, "click #more", "wait .v-menu .v-list-item"),
    _page("Quill", "quill.html", ("quill@2.0.3",), "wait .ql-toolbar"),
    _page("Tabulator", "tabulator.html", ("tabulator-tables@6.5.3",), "wait .tabulator-row"),
    _page(
        "Tabulator, scrolled",
        "tabulator.html",
        ("tabulator-tables@6.5.3",),
        "wait .tabulator-row",
        "scroll .tabulator-tableholder | 400",
    ),
    _page("Grid.js, row hovered", "gridjs.html", ("gridjs@6.2.0",), "hover tbody tr:nth-child(3)"),
    _page("FullCalendar", "fullcalendar.html", ("fullcalendar@6.1.19",), "wait .fc-event"),
    _page(
        "FullCalendar, week", "fullcalendar.html", ("fullcalendar@6.1.19",), "click .fc-timeGridWeek-button"
    ),
    _page(
        "flatpickr, open",
        "flatpickr.html",
        ("flatpickr@4.6.13",),
        "click #from",
        "wait .flatpickr-calendar.open",
    ),
    _page("Drawflow", "drawflow.html", ("drawflow@0.0.60",), "wait .drawflow-node"),
    _page(
        "Element Plus, not valid",
        "element_plus.html",
        _ELEMENT_PLUS,
        "click #create",
        "wait .el-form-item__error",
    ),
    _page("Element Plus, question", "element_plus.html", _ELEMENT_PLUS, "click #ask", "wait .el-message-box"),
    _page("MUI", "mui.jsx", _MUI, "wait #more"),
    _page("MUI, menu", "mui.jsx", _MUI, "click #more", "wait [role=menuitem]:visible"),
    _page("MUI, dialog", "mui.jsx", _MUI, "click #delete", "wait [role=dialog]"),
    _page("React Aria", "react_aria.jsx", _REACT_ARIA, "wait #send"),
    _page("React Aria, menu", "react_aria.jsx", _REACT_ARIA, "click #menu", "wait [role=menuitem]"),
    _page("React Aria, not valid", "react_aria.jsx", _REACT_ARIA, "click #send", "wait [data-invalid]"),
    _page(
        "CodeMirror",
        "codemirror.mjs",
        ("codemirror@6.0.2", "@codemirror/lang-javascript@6.2.5"),
        "wait .cm-line",
    ),
    _page("Monaco", "monaco.html", ("monaco-editor@0.57.0",), "wait .view-line"),
    _page("Radix", "radix.jsx", _RADIX, "wait #file"),
    _page("Radix, menu bar", "radix.jsx", _RADIX, "click #file", "wait [role=menu]"),
    _page("Radix, question", "radix.jsx", _RADIX, "click #delete", "wait [role=alertdialog]"),
    _page("Ant Design", "antd.jsx", _ANTD, "wait .ant-table-row"),
    _page("Ant Design, date picker", "antd.jsx", _ANTD, "click #day", "wait .ant-picker-dropdown"),
    _page("Ant Design, not valid", "antd.jsx", _ANTD, "click #send", "wait .ant-form-item-has-error"),
    _page("Fluent", "fluent.html", _FLUENT, "wait fluent-tab"),
    _page("Fluent, dialog", "fluent.html", _FLUENT, "click #ask", "wait fluent-dialog-body"),
    _page("Material Web", "material_web.mjs", _MATERIAL_WEB, "wait md-fab"),
    _page("Material Web, menu", "material_web.mjs", _MATERIAL_WEB, "click #more", "wait md-menu-item"),
    _page("Material Web, dialog", "material_web.mjs", _MATERIAL_WEB, "click #ask", "wait md-dialog[open]"),
    _page("DataTables", "datatables.html", _DATATABLES, "wait td"),
    _page("DataTables, row hovered", "datatables.html", _DATATABLES, "hover tbody tr:nth-child(4)"),
    _page("Bootstrap, dialog", "bootstrap.html", _BOOTSTRAP, "click #ask", "wait .modal.show .btn-close"),
    _page("Bootstrap, menu", "bootstrap.html", _BOOTSTRAP, "click #more", "wait .dropdown-menu.show"),
    _page("Plotly", "plotly.html", ("plotly.js-dist-min@4.1.2",), "wait .main-svg"),
    _page("OpenLayers", "openlayers.html", ("ol@10.10.0",), "wait .ol-zoom"),
    _page(
        "Tom Select and noUiSlider",
        "tom_select.html",
        ("tom-select@2.6.2", "nouislider@15.8.1"),
        "wait .noUi-handle",
    ),
    _page("NiceGUI", "nicegui_app.py", ("nicegui==3.18.0",), "wait .q-tree"),
    _page("Flask-Admin", "flask_admin_app.py", _FLASK_ADMIN, "click a:has-text('Parts')", "wait td"),
    _page("Panel", "panel_app.py", ("panel==1.9.4",), "wait .tabulator-row"),
    Page(
        "DataTables, in a frame of another site",
        "first",
        _DATATABLES,
        "datatables.html",
        ("wait iframe >> internal:control=enter-frame >> td",),
        framed=True,
    ),
)
