/** Copies text to the clipboard; false if the browser does not allow it. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    // Without TLS there is no `navigator.clipboard`. Use `execCommand` below.
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused, or the window lost the focus. `execCommand` may still work.
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
