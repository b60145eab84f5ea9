"""A paper as PDF, made up."""

FINDINGS = ("tides", "moss", "kettles", "owls", "bridges", "salt", "clocks", "paper", "rain", "bells")
LINES = 30


def paper(pages: int) -> bytes:
    """A PDF of so many pages; page N describes finding N, which is about FINDINGS[N - 1]."""
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids: list[int] = []
    for page in range(1, pages + 1):
        topic = FINDINGS[(page - 1) % len(FINDINGS)]
        lines = [f"Finding {page} is about {topic} and took {page * 3 + 1} years."]
        lines += [f"Line {n} of page {page} goes on about {topic}." for n in range(2, LINES)]
        text = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 60 780 Td {text} ET".encode()
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
            b" /Contents %d 0 R >>" % (len(objects) + 2)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, pages)
    body = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(body)
    size = len(objects) + 1
    return (
        body
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    )
