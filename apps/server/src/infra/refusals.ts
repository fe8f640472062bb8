import { fillIn, messageKeyOf, refusals, refuse, type Params, type Reason, type Refusal } from '@netlet/contract'

/**
 * A refusal that is about one field of a form: its sentence is shown beside that field.
 * @param more what else `data` tells
 */
export function fieldRefusal(field: string, reason: Reason, params: Params = {}, more: object = {}): Refusal {
  return refuse(reason, { params, data: { ...more, errors: { [field]: fillIn(refusals[reason][1], params) } } })
}

/**
 * A form that does not fit. Each field is mapped to its message, and to that message's key with what stands in it, for
 * those who word it in another language.
 * @param errors sentences of the contract's `formMessages` by field; the first one is the refusal's own
 */
export function formRefusal(errors: Record<string, string>): Refusal {
  return refuse('invalid', { msg: Object.values(errors)[0] ?? 'invalid', data: fieldReasons(errors) })
}

/** What `data` of a refused form holds. */
export function fieldReasons(errors: Record<string, string>) {
  const field_reasons: Record<string, { reason: string; params: Params }> = {}
  for (const [field, sentence] of Object.entries(errors)) {
    const known = messageKeyOf(sentence)
    if (known) field_reasons[field] = { reason: known.key, params: known.params }
  }
  return { errors, field_reasons }
}
