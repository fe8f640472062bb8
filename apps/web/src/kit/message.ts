export type Kind = 'good' | 'bad' | 'info'
/** Text, or a function that returns it in the current language. */
export type Message = string | (() => string)

export const colors = { good: 'green', bad: 'red', info: 'lagoon' } as const satisfies Record<Kind, string>

/** Milliseconds that a message shows, within the specification's range. Long texts and failures show longer. */
const SHOWN = { least: 1500, most: 3000 }
const PER_CHARACTER = 60

export const readingTime = (kind: Kind, text: string): number =>
  kind === 'bad' ? SHOWN.most : Math.min(SHOWN.most, Math.max(SHOWN.least, text.length * PER_CHARACTER))
