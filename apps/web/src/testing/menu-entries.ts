/** The names of menu entries, without the reasons of disabled ones. */
export const namesOf = (entries: readonly HTMLElement[]): string[] =>
  entries.map(entry => {
    const reason = entry.getAttribute('aria-describedby')
    const said = reason === null ? '' : (document.getElementById(reason)?.textContent ?? '')
    return entry.textContent.slice(0, entry.textContent.length - said.length)
  })
