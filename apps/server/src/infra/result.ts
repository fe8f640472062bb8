import type { Refusal } from '@netlet/contract'

export type Ok<T> = { ok: true; data: T }
/** What a command gives back: its result, or an expected refusal. Exceptions are for bugs. */
export type Result<T> = Ok<T> | Refusal

export const ok = <T>(data: T): Ok<T> => ({ ok: true, data })
export const done: Ok<null> = { ok: true, data: null }
