export type Kind = 'good' | 'bad' | 'info'
/** Words, or what gives them in the language that is chosen by then. */
export type Message = string | (() => string)

export const colors = { good: 'green', bad: 'red', info: 'lagoon' } as const satisfies Record<Kind, string>

/** Milliseconds that a message stays, within what the specification allows: longer words take longer, what failed the longest. */
const SHOWN = { least: 1500, most: 3000 }
const PER_CHARACTER = 60

export const readingTime = (kind: Kind, text: string): number =>
  kind === 'bad' ? SHOWN.most : Math.min(SHOWN.most, Math.max(SHOWN.least, text.length * PER_CHARACTER))
