/** One changed field; undefined: it did not exist. */
export type Change = { field: string; before: unknown; after: unknown }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NAMES = ['variant_name', 'cidr', 'name', 'option_name', 'domain', 'id']

/** Identifies an object in a list. */
function nameIn(one: Record<string, unknown>, at: number): string {
  const named = NAMES.map(field => one[field]).find(value => typeof value === 'number' || (value ?? '') !== '')
  return typeof named === 'string' || typeof named === 'number' ? String(named).replaceAll(']', ')') : String(at + 1)
}

const isTable = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

/** Objects with only a name become a list of names. */
const listed = (value: readonly unknown[]): readonly unknown[] =>
  value.every(one => isObject(one) && typeof one['name'] === 'string' && Object.keys(one).length <= 2 && 'id' in one)
    ? value.map(one => (one as { name: string }).name)
    : value

/** A value's fields by path, such as 'agent.url'. List objects go by name: 'variants[New York].variant_price'. */
function flatten(value: unknown, path = ''): [field: string, value: unknown][] {
  if (value === null || value === undefined) return path ? [[path, value]] : []
  if (Array.isArray(value)) value = listed(value)
  if (isTable(value)) return value.flatMap((one, at) => flatten(one, `${path}[${nameIn(one, at)}]`))
  if (!isObject(value)) return [[path, value]]
  // An object without fields, such as empty translations, yields nothing.
  return Object.entries(value).flatMap(([key, one]) => flatten(one, path ? `${path}.${key}` : key))
}

/** The fields that differ, in order. If both values are given, a field that only one has counts as changed. */
export function difference(before: unknown, after: unknown): { changed: Change[]; same: string[] } {
  const [was, is] = [new Map(flatten(before)), new Map(flatten(after))]
  const changed: Change[] = []
  const same: string[] = []
  for (const field of new Set([...was.keys(), ...is.keys()])) {
    const change = { field, before: was.get(field), after: is.get(field) }
    // Secrets are masked, so two masked values may differ.
    const equal = JSON.stringify(change.before) === JSON.stringify(change.after) && change.after !== '[secret]'
    if (equal && was.has(field) && is.has(field)) same.push(field)
    else changed.push(change)
  }
  return { changed, same }
}

/** What was added to and removed from a list; null unless both values are lists of plain values. */
export function listChange({ before, after }: Change): { added: unknown[]; removed: unknown[] } | null {
  if (!Array.isArray(before) || !Array.isArray(after)) return null
  return {
    added: after.filter(one => !before.includes(one)),
    removed: before.filter(one => !after.includes(one))
  }
}
