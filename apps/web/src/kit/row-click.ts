/** What is clicked for its own sake, wherever it stands. */
const ACTS = 'a, button, input, select, textarea, label, summary, [role="button"]'

/** Whether a click on a row is meant for the row: it is beside what the row holds to be clicked, and marked no text. */
export const isForRow = (target: EventTarget | null): boolean =>
  target instanceof Element && !target.closest(ACTS) && !window.getSelection()?.toString()
