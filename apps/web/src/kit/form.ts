import { message, messageKeyOf } from '@netlet/contract/form-messages'
import { zod4Resolver } from 'mantine-form-zod-resolver'
import { wordsOf } from '../i18n/failures.ts'

/** A sentence of the contract's forms in the chosen language. */
function translate(sentence: string): string {
  const known = messageKeyOf(sentence)
  return (known && wordsOf(known.key, known.params)) ?? sentence
}

/** What the contract's forms say for a key, in the chosen language. */
export const formMessage: typeof message = (key, ...params) => translate(message(key, ...params))

/** The contract's own rules for a form: the first sentence for each field. */
export function rules(schema: Parameters<typeof zod4Resolver>[0]) {
  const check = zod4Resolver(schema, { errorPriority: 'first' })
  return (values: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(check(values)).flatMap(([field, sentence]) =>
        typeof sentence === 'string' ? [[field, translate(sentence)]] : []
      )
    )
}
