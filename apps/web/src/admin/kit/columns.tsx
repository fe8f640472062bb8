import type { ReactNode } from 'react'
import { type Key, useT } from '../../i18n/admin.ts'
import { money as moneyText, numberText } from '../../kit/money.ts'
import { Day, Moment } from '../../kit/time.tsx'
import type { AskingFilter, Column, Filter, Option } from './resource.ts'
import { none } from '../../kit/none.tsx'

// Each function makes a column. Its key must exist in the list's rows, with a value of the right type.

type Look = Pick<Column<never>, 'lead' | 'wide' | 'optional'>

/** A column with its own cells. */
export const column = <R, const C extends string>(
  key: C,
  cell: (row: R) => ReactNode,
  look: Look & { align?: 'end' } = {}
): Column<R, C> => ({ key, cell, ...look })

/** An id, code or address in a monospace font. */
export const code = <const C extends string>(key: C, look: Look = {}): Column<Record<C, string | null>, C> =>
  column(key, row => (row[key] ? <span className="mono">{row[key]}</span> : none), look)

export const integer = <const C extends string>(key: C, look: Look = {}): Column<Record<C, number | null>, C> =>
  column(
    key,
    row => {
      const value = row[key]
      return value === null ? none : numberText(value)
    },
    { align: 'end', ...look }
  )

/** An exact amount as the contract sends it. */
export const money = <const C extends string>(
  key: C,
  { prefix = '', ...look }: Look & { prefix?: string } = {}
): Column<Record<C, string | null>, C> =>
  column(
    key,
    row => {
      const amount = row[key]
      return amount === null ? none : prefix + moneyText(amount).replace('$', '')
    },
    { align: 'end', ...look }
  )

export const yesNo = <const C extends string>(key: C, look: Look = {}): Column<Record<C, boolean>, C> =>
  column(key, row => <YesNo value={row[key]} />, look)

export const date = <const C extends string>(key: C, look: Look = {}): Column<Record<C, string | null>, C> =>
  column(key, row => (row[key] ? <Day at={row[key]} /> : none), look)

/** Like `date`, with seconds, for logs. */
export const moment = <const C extends string>(key: C, look: Look = {}): Column<Record<C, string | null>, C> =>
  column(key, row => (row[key] ? <Moment at={row[key]} /> : none), look)

function YesNo({ value }: { value: boolean }) {
  const t = useT()
  return <span className={`strong size-label ${value ? 'good' : 'dim'}`}>{t(value ? 'list.yes' : 'list.no')}</span>
}

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
