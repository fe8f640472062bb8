import type { PriceDrift } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { Ago } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { DataTable, type Column } from '../kit/index.ts'
import { PriceChoices } from './choices.tsx'

/** The panel's anchor: `#prices`. */
const ID = 'prices'

/** Prices that differ from the platform's, with buttons to resolve each. */
export function PriceDriftList() {
  const t = useT()
  const paging = useAddressPaging(20, { name: ID })
  const { data, isPending, error, refetch } = useQuery(
    read(catalog.priceDrift, { query: { limit: paging.size, offset: paging.offset } })
  )
  const columns: Column<PriceDrift>[] = [
    { key: 'name', title: t('health.drift.name'), render: row => row.name, lead: true },
    { key: 'price', title: t('health.drift.ours'), render: row => money(row.price), align: 'end' },
    { key: 'platform', title: t('health.drift.platform'), render: row => money(row.platform_price), align: 'end' },
    { key: 'since', title: t('health.drift.since'), render: row => <Ago at={row.since} /> },
    { key: 'actions', title: t('list.actions'), hidden: true, render: row => <PriceChoices drift={row} /> }
  ]
  const place = useRef<HTMLElement>(null)
  const { hash } = useLocation()
  const loaded = data !== undefined
  useEffect(() => {
    // Scroll once the rows are loaded: everything above then has its final height.
    if (loaded && hash === `#${ID}`) place.current?.scrollIntoView()
  }, [hash, loaded])
  return (
    <section ref={place} id={ID} aria-label={t('health.drift.title')}>
      <h3>{t('health.drift.title')}</h3>
      <DataTable
        label={t('health.drift.title')}
        columns={columns}
        rows={data?.data}
        rowKey={row => row.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('health.drift.none'), body: t('health.drift.noneHint') }}
        paging={paging}
        total={data?.total}
      />
    </section>
  )
}
