/**
 * `yes` and `no` are the buttons' words, YES and NO without them. `typed`: a number that has to be typed before YES.
 * `blocked`: it would be refused, as the body says, so it can only be closed.
 */
export type Question = {
  title: string
  body: string
  danger?: boolean
  yes?: string
  no?: string
  typed?: number
  blocked?: boolean
}
type Asked = Question & { answer: (yes: boolean) => void }

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

/** Asks with YES and NO; true only for YES. A question that another one displaces counts as NO. */
export function confirm(question: Question): Promise<boolean> {
  asked?.answer(false)
  return new Promise(resolve => {
    const mine: Asked = {
      ...question,
      answer: yes => {
        resolve(yes)
        if (asked !== mine) return
        asked = null
        changed()
      }
    }
    asked = mine
    changed()
  })
}
