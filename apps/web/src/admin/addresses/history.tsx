import type { AddressLease } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { address as addressOf } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'
import classes from './addresses.module.css'
import { OrderLink } from '../orders/order-link.tsx'
import { Moment } from '../../kit/time.tsx'
import { type Column, DataTable, instantOf, localTime, TimeInput } from '../kit/index.ts'
import { LeaseProved, LeaseState, UserLink } from './cells.tsx'

type Props = {
  address: string
  from: string | null
  to: string | null
  onAsk: (next: { from: string | null; to: string | null }) => void
}

/** Everyone who had the address, or addresses of the range, in a period. Exports to a file. */
export function History({ address, from, to, onAsk }: Props) {
  const t = useT()
  const paging = useAddressPaging(10, { name: 'leases' })
  const span = { address, ...(from ? { from } : {}), ...(to ? { to } : {}) }
  const { data, isPending, error, refetch } = useQuery({
    ...read(inventory.addressLeases, { query: { ...span, limit: paging.size, offset: paging.offset } }),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    refetchOnWindowFocus: false
  })
  const [first, setFirst] = useState(localTime(from, 'second'))
  const [last, setLast] = useState(localTime(to, 'second'))
  const columns: Column<AddressLease>[] = [
    {
      key: 'order',
      title: t('addresses.order'),
      render: row => <OrderLink id={row.order_id} number={row.order} />,
      lead: true
    },
    { key: 'user', title: t('addresses.user'), render: row => <UserLink lease={row} /> },
    { key: 'block', title: t('addresses.block'), render: row => <span className="mono">{row.address}</span> },
    { key: 'rules', title: t('addresses.rules'), render: row => row.acls.map(({ name }) => name).join(', ') },
    { key: 'from', title: t('addresses.from'), render: row => <Moment at={row.leased_at} /> },
    {
      key: 'to',
      title: t('addresses.to'),
      render: row => (row.released_at ? <Moment at={row.released_at} /> : t('addresses.still'))
    },
    { key: 'state', title: t('addresses.state'), render: row => <LeaseState lease={row} />, wide: true },
    { key: 'proof', title: t('proofs.ended'), render: row => <LeaseProved lease={row} />, wide: true }
  ]
  return (
    <section className="stack" aria-label={t('addresses.history')}>
      <h2 className={classes.title}>{t('addresses.historyOf', { address })}</h2>
      <form
        className={`row bottom ${classes.question}`}
        style={{ gap: '0.6rem' }}
        onSubmit={event => {
          event.preventDefault()
          onAsk({ from: instantOf(first), to: instantOf(last) })
        }}
      >
        <TimeInput
          size="xs"
          precision="second"
          label={t('addresses.from')}
          value={first}
          onChange={event => setFirst(event.currentTarget.value)}
        />
        <TimeInput
          size="xs"
          precision="second"
          label={t('addresses.to')}
          value={last}
          onChange={event => setLast(event.currentTarget.value)}
        />
        <Button type="submit" size="xs" variant="default">
          {t('addresses.show')}
        </Button>
        <Button
          size="xs"
          variant="default"
          component="a"
          href={addressOf(inventory.addressLeases.path, {}, { ...span, format: 'csv' })}
          download="addresses.csv"
          leftSection={<IconDownload size={15} aria-hidden />}
        >
          CSV
        </Button>
      </form>
      <DataTable
        label={t('addresses.history')}
        columns={columns}
        rows={data?.data}
        rowKey={row => row.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('addresses.noHistory'), body: t('addresses.noHistoryHint') }}
        paging={paging}
        total={data?.total}
      />
    </section>
  )
}
