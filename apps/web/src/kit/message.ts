export type Kind = 'good' | 'bad' | 'info'
/** Words, or what gives them in the language that is chosen by then. */
export type Message = string | (() => string)

export const colors = { good: 'green', bad: 'red', info: 'lagoon' } as const satisfies Record<Kind, string>

/** Milliseconds that a message stays: what failed is read twice, and longer words take longer. */
const SHOWN: Record<Kind, number> = { good: 3000, info: 4000, bad: 8000 }
const PER_CHARACTER = 60

export const readingTime = (kind: Kind, text: string): number => Math.max(SHOWN[kind], text.length * PER_CHARACTER)
