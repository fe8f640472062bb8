/** Elements that handle their own clicks. */
const ACTS = 'a, button, input, select, textarea, label, summary, [role="button"]'

/** Whether a click on a row is meant for the row: outside its controls, and not the end of a text selection. */
export const isForRow = (target: EventTarget | null): boolean =>
  target instanceof Element && !target.closest(ACTS) && !window.getSelection()?.toString()
