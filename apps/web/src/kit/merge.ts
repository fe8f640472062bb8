import { hashKey } from '@tanstack/react-query'

/** Names a value of a form: its field, and what of it. */
export type Path = readonly string[]
/** A value that was not changed here, and by somebody else: it is theirs now. */
export type Taken = { path: Path; was: unknown; is: unknown }
/** A value that was changed here and, otherwise, by somebody else: it stays as it was entered. */
export type Clash = { path: Path; mine: unknown; theirs: unknown }
export type Merge<V> = { values: V; taken: Taken[]; clashes: Clash[] }

type Values = Readonly<Record<string, unknown>>

/** Without a look at the order of keys: a value that is taken away and entered again comes last. */
export const isSame = (one: unknown, other: unknown): boolean => hashKey([one]) === hashKey([other])
const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What a form goes on with whose row somebody else has saved meanwhile. Values within values are looked at one by one; a list is
 * one value.
 * @param base what the form began with
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

/** The values with another one at a path; undefined: without what is there. */
export function withValue<V extends object>(values: V, [name = '', ...rest]: Path, value: unknown): V {
  const { [name]: inner, ...others } = values as Values
  const next = rest.length === 0 ? value : withValue(isValues(inner) ? inner : {}, rest, value)
  return (next === undefined ? others : { ...values, [name]: next }) as V
}
