/** The names of a menu's entries, without the reasons of those that are not possible now. */
export const namesOf = (entries: readonly HTMLElement[]): string[] =>
  entries.map(entry => {
    const reason = entry.getAttribute('aria-describedby')
    const said = reason === null ? '' : (document.getElementById(reason)?.textContent ?? '')
    return entry.textContent.slice(0, entry.textContent.length - said.length)
  })
