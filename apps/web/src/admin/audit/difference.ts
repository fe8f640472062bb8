/** One field of what was changed; undefined: it was not there. */
export type Change = { field: string; before: unknown; after: unknown }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NAMES = ['variant_name', 'cidr', 'name', 'option_name', 'domain', 'id']

/** What tells an object of a list from the others. */
function nameIn(one: Record<string, unknown>, at: number): string {
  const named = NAMES.map(field => one[field]).find(value => typeof value === 'number' || (value ?? '') !== '')
  return typeof named === 'string' || typeof named === 'number' ? String(named).replaceAll(']', ')') : String(at + 1)
}

const isTable = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

/** Objects that are no more than a name are shown as a list of names. */
const listed = (value: readonly unknown[]): readonly unknown[] =>
  value.every(one => isObject(one) && typeof one['name'] === 'string' && Object.keys(one).length <= 2 && 'id' in one)
    ? value.map(one => (one as { name: string }).name)
    : value

/**
 * The fields of a value by their paths, 'agent.url'; of no object one without a name. An object in a list is found by its
 * name: 'variants[New York].variant_price'.
 */
function flatten(value: unknown, path = ''): [field: string, value: unknown][] {
  if (value === null || value === undefined) return path ? [[path, value]] : []
  if (Array.isArray(value)) value = listed(value)
  if (isTable(value)) return value.flatMap((one, at) => flatten(one, `${path}[${nameIn(one, at)}]`))
  if (!isObject(value)) return [[path, value]]
  // One without fields, such as texts in no other language, is nothing.
  return Object.entries(value).flatMap(([key, one]) => flatten(one, path ? `${path}.${key}` : key))
}

/**
 * What differs between two values, field by field in their order. A field that only one of them has counts as changed
 * where both are given: an entry names on either side what it is about.
 */
export function difference(before: unknown, after: unknown): { changed: Change[]; same: string[] } {
  const [was, is] = [new Map(flatten(before)), new Map(flatten(after))]
  const changed: Change[] = []
  const same: string[] = []
  for (const field of new Set([...was.keys(), ...is.keys()])) {
    const change = { field, before: was.get(field), after: is.get(field) }
    // Of a secret only that it was set is known: two of them may differ.
    const equal = JSON.stringify(change.before) === JSON.stringify(change.after) && change.after !== '[secret]'
    if (equal && was.has(field) && is.has(field)) same.push(field)
    else changed.push(change)
  }
  return { changed, same }
}

/** What a list has more and less than before; null where these are no two lists of plain values. */
export function listChange({ before, after }: Change): { added: unknown[]; removed: unknown[] } | null {
  if (!Array.isArray(before) || !Array.isArray(after)) return null
  return {
    added: after.filter(one => !before.includes(one)),
    removed: before.filter(one => !after.includes(one))
  }
}
