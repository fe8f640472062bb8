import { Button } from '@mantine/core'
import type { PriceDrift } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { catalog, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { DataTable, type Column } from '../../kit/data-table.tsx'
import { money } from '../../kit/money.ts'
import { Ago } from '../../kit/time.tsx'
import { usePaging } from '../../kit/use-paging.ts'
import { useCommand } from '../kit/index.ts'
import classes from './health.module.css'

const invalidate = [catalog.priceDrift, settings.health]

/** Prices that are other ones on the platform, with the two ways to make them one. */
export function PriceDriftList() {
  const t = useT()
  const paging = usePaging(20)
  const { data, isPending, error, refetch } = useQuery(
    read(catalog.priceDrift, { query: { limit: paging.size, offset: paging.offset } })
  )
  const columns: Column<PriceDrift>[] = [
    { key: 'name', title: t('health.drift.name'), render: row => row.name, lead: true },
    { key: 'price', title: t('health.drift.ours'), render: row => money(row.price), align: 'end' },
    { key: 'platform', title: t('health.drift.platform'), render: row => money(row.platform_price), align: 'end' },
    { key: 'since', title: t('health.drift.since'), render: row => <Ago at={row.since} /> },
    { key: 'actions', title: '', render: row => <Choices drift={row} /> }
  ]
  return (
    <section aria-label={t('health.drift.title')}>
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

function Choices({ drift }: { drift: PriceDrift }) {
  const t = useT()
  const take = useCommand(catalog.takePlatformPrice, { invalidate })
  const write = useCommand(catalog.writePlatformPrice, {
    invalidate,
    confirm: {
      title: t('health.drift.write'),
      body: t('health.drift.writeBody', { name: drift.name, price: money(drift.price) })
    }
  })
  const params = { id: drift.id }
  return (
    <div className={classes.actions}>
      <Button size="compact-sm" variant="default" loading={take.running} onClick={() => void take.run({ params })}>
        {t('health.drift.take')}
      </Button>
      <Button size="compact-sm" variant="default" loading={write.running} onClick={() => void write.run({ params })}>
        {t('health.drift.write')}
      </Button>
    </div>
  )
}
