/** Puts text on the clipboard; false where the browser does not let us. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    // Without TLS there is no such thing; the older way then still works.
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused, or the window lost its focus: the older way may be allowed.
  }
  const field = document.createElement('textarea')
  field.value = text
  field.style.cssText = 'position:fixed;opacity:0'
  document.body.append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
  }
}
