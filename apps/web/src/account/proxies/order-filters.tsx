import { NativeSelect, TextInput } from '@mantine/core'
import { EXPIRING_DAYS } from '@netlet/contract/limits'
import { ORDER_STATES } from '@netlet/contract/states'
import { type RefObject, useState } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { FilterBar } from '../../kit/filter-bar.tsx'
import { numberText } from '../../kit/money.ts'
import classes from './orders.module.css'
import { dayIn, stateIn, type OrderList } from './use-orders.ts'

type Props = { list: OrderList; field: RefObject<HTMLInputElement | null> }

/** The tabs, search, filters and sort of a customer's orders. */
export function OrderFilters({ list, field }: Props) {
  const t = useT()
  const tAccount = useAccountT()
  const { filters, filter, view, expiring } = list
  const soon = t('orders.expiring')
  return (
    <>
      <div className={classes.tabs} role="group" aria-label={t('orders.views')}>
        {(['all', 'expiring'] as const).map(one => (
          <button
            key={one}
            type="button"
            className="bare"
            aria-pressed={view === one}
            title={one === 'expiring' ? t('orders.expiringHint', { days: EXPIRING_DAYS }) : undefined}
            onClick={() => list.setView(one)}
          >
            {one === 'all' ? t('orders.all') : soon}
            {one === 'expiring' && expiring !== undefined && expiring > 0 && (
              <span className="num">{numberText(expiring)}</span>
            )}
          </button>
        ))}
      </div>
      <div style={{ padding: '0.6rem 0.9rem' }}>
        <FilterBar
          label={tAccount('orders.label')}
          search={{ label: t('orders.find'), field, typed: list.typed, onType: list.type }}
          active={list.active}
          onClear={list.clear}
        >
          <NativeSelect
            size="sm"
            aria-label={t('orders.state')}
            value={filters.state}
            onChange={event => filter({ state: stateIn(event.currentTarget.value) })}
            data={[
              { value: '', label: t('orders.anyState') },
              ...ORDER_STATES.map(value => ({ value, label: tAccount(`state.${value}`) }))
            ]}
          />
          <DayField label={t('orders.from')} value={filters.from} onChange={from => filter({ from })} />
          <DayField label={t('orders.until')} value={filters.until} onChange={until => filter({ until })} />
          <NativeSelect
            size="sm"
            aria-label={t('orders.sort')}
            value={list.sort}
            onChange={event => {
              const next = list.sorts.find(one => one === event.currentTarget.value)
              if (next) list.setSort(next)
            }}
            data={list.sorts.map(value => ({ value, label: t(`orders.sort.${value}`) }))}
          />
        </FilterBar>
      </div>
    </>
  )
}

type DayProps = { label: string; value: string; onChange: (day: string) => void }

/** A browser reports each digit of a typed year, so only a possible day is passed on. */
function DayField({ label, value, onChange }: DayProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  return (
    <label className={`row unwrapped ${classes.day}`}>
      <span className="dim size-table">{label}</span>
      <TextInput
        type="date"
        size="sm"
        value={typed}
        onChange={event => {
          const day = event.currentTarget.value
          setTyped(day)
          if (day !== dayIn(day)) return
          setKnown(day)
          onChange(day)
        }}
      />
    </label>
  )
}
