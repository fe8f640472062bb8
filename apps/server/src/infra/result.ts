import type { Refusal } from '@netlet/contract'

export type Ok<T> = { ok: true; data: T }
/** The result of a command, or an expected refusal. Exceptions are bugs. */
export type Result<T> = Ok<T> | Refusal

export const ok = <T>(data: T): Ok<T> => ({ ok: true, data })
export const done: Ok<null> = { ok: true, data: null }
