let question: (() => Promise<boolean>) | undefined

/** Has `ask` answer whether what is open and not saved may be left; gives back what ends that. */
export function guardLeaving(ask: () => Promise<boolean>): () => void {
  question = ask
  return () => {
    if (question === ask) question = undefined
  }
}

/** Whether the screen may be left now; a person is asked where something on it is not saved. */
export const mayLeave = async (): Promise<boolean> => (question ? question() : true)
