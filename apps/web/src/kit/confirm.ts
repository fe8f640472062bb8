/**
 * `yes` and `no` label the buttons (default YES and NO). `typed`: a number to type before YES. `blocked`: the action
 * would be refused, as the body says, so the dialog can only be closed. `session`: the operator confirms the session, in
 * a dialog of the console. `note`: the dialog also asks what to tell the customer, with these words.
 */
export type Question = {
  title: string
  body: string
  danger?: boolean
  yes?: string
  no?: string
  typed?: number
  blocked?: boolean
  session?: boolean
  note?: { message: string; hint: string; email: string }
}
type CustomerNote = { message: string; email_customer: boolean }
type Asked = Question & { answer: (yes: boolean, note?: CustomerNote) => void }

let asked: Asked | null = null
const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of listeners) listener()
}

export const questions = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => asked
}

/** Asks a question; true only for YES. A new question answers the open one with NO. */
export const confirm = async (question: Question): Promise<boolean> => (await ask(question)) !== null

/** The same. @returns what the call is to send besides, if the question asks for it; null for NO */
export function ask(question: Question): Promise<Partial<CustomerNote> | null> {
  asked?.answer(false)
  return new Promise(resolve => {
    const mine: Asked = {
      ...question,
      answer: (yes, note) => {
        resolve(yes ? (note ?? {}) : null)
        if (asked !== mine) return
        asked = null
        changed()
      }
    }
    asked = mine
    changed()
  })
}
