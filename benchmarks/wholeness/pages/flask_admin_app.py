"""Flask-Admin over a small table of parts."""

import sys

from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config.update(SQLALCHEMY_DATABASE_URI="sqlite://", SECRET_KEY="x", FLASK_ADMIN_SWATCH="default")
db = SQLAlchemy(app)


class Part(db.Model):
    """A part in stock."""

    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(40), nullable=False)
    kind = db.Column(db.Enum("bolt", "nut"), nullable=False)
    ready = db.Column(db.Boolean, default=True)
    made = db.Column(db.Date)


class Parts(ModelView):
    """All of them, to be searched, filtered and changed in place."""

    column_searchable_list = ("name",)
    column_filters = ("kind", "ready")
    column_editable_list = ("kind",)
    can_export = True


admin = Admin(app, name="Stock")
admin.add_view(Parts(Part, db))
with app.app_context():
    db.create_all()
    db.session.add_all(Part(name=f"Part {n}", kind="bolt" if n % 2 else "nut") for n in range(30))
    db.session.commit()
app.add_url_rule("/", "start", lambda: '<a href="/admin/part/">Parts</a>')
app.run("127.0.0.1", int(sys.argv[1]))
