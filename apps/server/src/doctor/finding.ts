/** What a check found. `note`: the shop would start, but something may be missing. */
export type Finding = { level: 'ok' | 'note' | 'wrong'; text: string }

export const fine = (text: string): Finding => ({ level: 'ok', text })
export const note = (text: string): Finding => ({ level: 'note', text })
export const wrong = (text: string): Finding => ({ level: 'wrong', text })
