import { fillIn, type Params } from './fill-in.ts'
import { refusals, type Reason } from './messages.ts'

/**
 * An expected refusal. `params` fill the sentence of its reason and reach the caller, as `data.params`; `msg` replaces
 * the sentence where it can say more; `data` goes to the caller.
 */
export type Refusal = { ok: false; reason: Reason; params?: Params; msg?: string; data?: object | null }

export const refuse = (
  reason: Reason,
  more: { params?: Params; msg?: string; data?: object | null } = {}
): Refusal => ({
  ok: false,
  reason,
  ...more
})

/** A refusal's sentence in English, as `msg` of the wire says it. */
export const sentenceOf = (refusal: Refusal): string =>
  refusal.msg ?? fillIn(refusals[refusal.reason][1], refusal.params)
