import { hashKey } from '@tanstack/react-query'

/** The path to a value: the form's field, then keys within it. */
export type Path = readonly string[]
/** A value changed only by the other user: the form takes theirs. */
export type Taken = { path: Path; was: unknown; is: unknown }
/** A value changed differently by both: the form keeps what is entered. */
export type Clash = { path: Path; mine: unknown; theirs: unknown }
export type Merge<V> = { values: V; taken: Taken[]; clashes: Clash[] }

type Values = Readonly<Record<string, unknown>>

/** Ignores the order of keys, because a value that is removed and entered again comes last. */
export const isSame = (one: unknown, other: unknown): boolean => hashKey([one]) === hashKey([other])
const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Merges a form with what another user has saved. Objects are merged value by value; a list is one value.
 * @param base what the form started with
 * @param mine what is entered
 * @param theirs what is saved now
 */
export function merge<V extends object>(base: V, mine: V, theirs: V): Merge<V> {
  const taken: Taken[] = []
  const clashes: Clash[] = []
  const within = (path: Path, was: unknown, entered: unknown, saved: unknown): unknown => {
    if (isSame(entered, saved)) return saved
    if (isSame(was, saved)) return entered
    if (isValues(entered) && isValues(saved)) {
      const before = isValues(was) ? was : {}
      const names = [...new Set([...Object.keys(saved), ...Object.keys(entered)])]
      return Object.fromEntries(
        names
          .map(name => [name, within([...path, name], before[name], entered[name], saved[name])] as const)
          .filter(([, value]) => value !== undefined)
      )
    }
    if (isSame(was, entered)) {
      taken.push({ path, was, is: saved })
      return saved
    }
    clashes.push({ path, mine: entered, theirs: saved })
    return entered
  }
  return { values: within([], base, mine, theirs) as V, taken, clashes }
}

/** The values with `value` at a path; undefined removes it. */
export function withValue<V extends object>(values: V, [name = '', ...rest]: Path, value: unknown): V {
  const { [name]: inner, ...others } = values as Values
  const next = rest.length === 0 ? value : withValue(isValues(inner) ? inner : {}, rest, value)
  return (next === undefined ? others : { ...values, [name]: next }) as V
}
