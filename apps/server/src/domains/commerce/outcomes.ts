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

/** A handler's result. `detail` fills the outcome's sentence, `about` names the orders. */
export type EventResult = {
  outcome: EventOutcome
  detail?: Params
  about?: EventSubject
  /** An administrator caused the event, so it needs no attention. */
  resolved?: { resolution: Resolution; by: string }
  /**
   * Whose payment it is, if customers can cause such events for cents: operators get one notice an hour for each
   * customer and outcome. Null: the customer is unknown. Missing or null: one notice for each event.
   */
  customer?: number | null
}

export type EventSubject = { platformOrderId: string; platformOrderName?: string | null; orderPublicId?: string | null }

/** Must an administrator look at this outcome of a payment? */
export const needsAttention = (outcome: EventOutcome): outcome is AttentionOutcome => outcome in ATTENTION

/** The sentence for administrators; null if the outcome needs none. */
export function attentionSentence(
  { outcome, detail }: Pick<EventResult, 'outcome' | 'detail'>,
  language: Language = 'en'
): string | null {
  if (!needsAttention(outcome)) return null
  return fillIn((language === 'en' ? ATTENTION : ATTENTION_ZH)[outcome], detail)
}
