import type { ReactNode } from 'react'
import { useT } from '../../i18n/admin.ts'
import { money as moneyText } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { Day, Moment } from '../../kit/time.tsx'
import type { Column } from './resource.ts'
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
