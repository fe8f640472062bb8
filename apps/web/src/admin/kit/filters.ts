import { useT, type Key } from '../../i18n/admin.ts'
import type { AskingFilter, Filter, Option } from './resource.ts'

// Each function makes a filter. Its name must be in the list's query.

/** One of several values. `words` is the prefix of their names: with 'orders.is', `paid` is named 'orders.is.paid'. */
export const oneOf = <const N extends string>(key: N, values: readonly string[], words: string): Filter<N> => ({
  key,
  useOptions: () => {
    const t = useT()
    return values.map(value => ({ value, label: t(`${words}.${value}` as Key) }))
  },
  accepts: value => values.includes(value)
})

export const yesNoFilter = <const N extends string>(key: N): Filter<N> => oneOf(key, ['1', '0'], 'list.flag')

/** The id of one of a call's results. */
export const idFilter = <const N extends string>(key: N, useOptions: () => readonly Option[]): Filter<N> => ({
  key,
  useOptions,
  accepts: value => /^[1-9]\d{0,14}$/.test(value)
})

/** A day, such as `2026-03-01`. */
export const dayFilter = <const N extends string>(key: N): Filter<N> => ({
  key,
  type: 'date',
  accepts: value => value === '' || /^\d{4}-\d{2}-\d{2}$/.test(value)
})

/** A month, such as `2026-03`. */
export const monthFilter = <const N extends string>(key: N): Filter<N> => ({
  key,
  type: 'month',
  accepts: value => value === '' || /^\d{4}-\d{2}$/.test(value)
})

export const textFilter = <const N extends string>(key: N): Filter<N> => ({
  key,
  accepts: value => value.length <= 200
})

/** A choice that sets other filters of the list. */
export const askingFilter = <const N extends string, const A extends string>(
  filter: AskingFilter<N, A>
): AskingFilter<N, A> => filter
