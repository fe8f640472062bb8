import { fillIn, messageKeyOf, refusals, refuse, type Params, type Reason, type Refusal } from '@netlet/contract'

/**
 * A refusal about one field of a form, shown beside that field.
 * @param more other properties of `data`
 */
export function fieldRefusal(field: string, reason: Reason, params: Params = {}, more: object = {}): Refusal {
  return refuse(reason, { params, data: { ...more, errors: { [field]: fillIn(refusals[reason][1], params) } } })
}

/**
 * A refused form. Each field has its message, and that message's key and parameters for translation.
 * @param errors sentences of the contract's `formMessages` by field; the first is the refusal's message
 */
export function formRefusal(errors: Record<string, string>): Refusal {
  return refuse('invalid', { msg: Object.values(errors)[0] ?? 'invalid', data: fieldReasons(errors) })
}

/** The `data` of a refused form. */
export function fieldReasons(errors: Record<string, string>) {
  const field_reasons: Record<string, { reason: string; params: Params }> = {}
  for (const [field, sentence] of Object.entries(errors)) {
    const known = messageKeyOf(sentence)
    if (known) field_reasons[field] = { reason: known.key, params: known.params }
  }
  return { errors, field_reasons }
}
