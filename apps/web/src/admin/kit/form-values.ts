import type { Field } from './resource.ts'

/** What a form reads from a row and sends back. */
export type Row = Record<string, unknown>

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null

/** The key of a form's input. It has no dots, which the form would treat as a path. */
export const keyOf = ({ name, translates }: Field): string =>
  translates ? [name, translates.language, translates.text].join('/') : name

function valueIn({ name, translates }: Field, row: Row | undefined): unknown {
  const value = row?.[name]
  if (!translates) return value
  const texts = isObject(value) ? value[translates.language] : undefined
  return isObject(texts) ? texts[translates.text] : undefined
}

export function shownOf(field: Field, row: Row | undefined): string {
  const value = valueIn(field, row)
  if (field.shown) return field.shown(value, row ?? {})
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The body of what is entered. Translations are grouped by language. */
export function bodyOf(fields: readonly Field[], values: Record<string, string>, row: Row): Row {
  const body: Row = {}
  const translations: Record<string, Record<string, string | undefined>> = {}
  for (const field of fields) {
    const value = values[keyOf(field)]
    const { name, sent, translates } = field
    if (translates)
      translations[translates.language] = { ...translations[translates.language], [translates.text]: value }
    else body[name] = sent ? sent(value ?? '', row) : value
  }
  return Object.keys(translations).length > 0 ? { ...body, translations } : body
}

/** Errors by input key. The contract names nested fields by their path. */
export const errorsByKey = (fields: readonly Field[], errors: Record<string, string>): Record<string, string> => {
  const keys = new Map(fields.map(field => [keyOf(field).replaceAll('/', '.'), keyOf(field)]))
  return Object.fromEntries(Object.entries(errors).map(([path, text]) => [keys.get(path) ?? path, text]))
}
