import {
  ATTENTION,
  ATTENTION_ZH,
  fillIn,
  type AttentionOutcome,
  type EventOutcome,
  type Language,
  type Params,
  type Resolution
} from '@netlet/contract'

/** What a handler made of an event. `detail` fills the outcome's sentence, `about` names the orders it concerns. */
export type EventResult = {
  outcome: EventOutcome
  detail?: Params
  about?: EventSubject
  /** An administrator had asked for what the platform reports: nobody has to look at it. */
  resolved?: { resolution: Resolution; by: string }
  /**
   * Whose payment it is, where customers cause such events for cents: operators are then told of an outcome once an hour for
   * each of them. Without it (null: nobody knows whose it is, and two may be of two strangers) they are told of each event.
   */
  customer?: number | null
  /** False: it is not mailed about, since it is expected to end by itself. */
  isMailed?: false
}

export type EventSubject = { platformOrderId: string; platformOrderName?: string | null; orderPublicId?: string | null }

/** Has an administrator to look at what came of a payment? */
export const needsAttention = (outcome: EventOutcome): outcome is AttentionOutcome => outcome in ATTENTION

/** The sentence for administrators; null where a payment's outcome needs nobody. */
export function attentionSentence(
  { outcome, detail }: Pick<EventResult, 'outcome' | 'detail'>,
  language: Language = 'en'
): string | null {
  if (!needsAttention(outcome)) return null
  return fillIn((language === 'en' ? ATTENTION : ATTENTION_ZH)[outcome], detail)
}
