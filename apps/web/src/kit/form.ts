import { ApiError } from '../api/client.ts'
import { say } from '../i18n/say.ts'

type Schema = {
  safeParse: (
    values: unknown
  ) =>
    | { success: true }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } }
}

/** The contract's own rules for a form: the first sentence for each field. */
export const rules = (schema: Schema) => (values: unknown) => {
  const result = schema.safeParse(values)
  const errors: Record<string, string> = {}
  if (result.success) return errors
  for (const { path, message } of result.error.issues) errors[path.map(String).join('.')] ??= say(message)
  return errors
}

/** What the server said about single fields. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError) || typeof error.data !== 'object' || error.data === null) return {}
  const { errors } = error.data as { errors?: unknown }
  if (typeof errors !== 'object' || errors === null) return {}
  return Object.fromEntries(
    Object.entries(errors).flatMap(([field, words]) => (typeof words === 'string' ? [[field, say(words)]] : []))
  )
}
