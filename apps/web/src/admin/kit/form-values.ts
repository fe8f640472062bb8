import type { Field } from './resource.ts'

/** What a form reads of a row, and what it sends. */
export type Row = Record<string, unknown>

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null

/** Names an input of a form; without dots, which a form takes for a path. */
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

/** What is sent of what was entered; texts in other languages together, by their language. */
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

/** What is wrong, by the inputs' keys: the contract names a field within others by its path. */
export const errorsByKey = (fields: readonly Field[], errors: Record<string, string>): Record<string, string> => {
  const keys = new Map(fields.map(field => [keyOf(field).replaceAll('/', '.'), keyOf(field)]))
  return Object.fromEntries(Object.entries(errors).map(([path, text]) => [keys.get(path) ?? path, text]))
}
