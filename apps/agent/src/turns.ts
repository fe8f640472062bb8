/** Lets everything else that waits have its turn: long work is done in pieces, so that no tunnel stands still for it. */
export const nextTurn = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))
