/** The PDF that a tab shows. */

/**
 * The file in Base64, from the browser's cache where it is kept there; null where the document is none.
 * @param {number} most bytes
 * @returns {Promise<{pdf?: string | null, size?: number, failed?: string}>}
 */
async function pdf(most) {
  if (document.contentType !== "application/pdf") return { pdf: null };
  try {
    const answer = await fetch(document.URL, { cache: "force-cache", credentials: "include" });
    if (!answer.ok) return { failed: `the server answers with ${answer.status}` };
    const file = await answer.blob();
    if (file.size > most) return { size: file.size };
    const reader = new FileReader();
    await new Promise((resolve, reject) => {
      reader.onload = resolve;
      reader.onerror = reject;
      reader.readAsDataURL(file);
    });
    return { pdf: String(reader.result).replace(/^[^,]*,/, "") };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
