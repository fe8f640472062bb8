import { Button, Skeleton, TextInput } from '@mantine/core'
import type { AddressLease } from '@netlet/contract'
import { IconDownload, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { address as addressOf } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { type Column, DataTable, type Fact, FactList, TimeInput, instantOf, localTime } from '../kit/index.ts'
import { OrderLink } from '../orders/cells.tsx'
import { AbuseReply } from './abuse-reply.tsx'
import classes from './addresses.module.css'
import { LeaseProved, LeaseState, UserLink } from './cells.tsx'
import '../kit/styles.ts'

type Props = { address: string; at: string | null; onAsk: (next: { address: string; at: string | null }) => void }

function Question({ address, at, onAsk }: Props) {
  const t = useT()
  const [typed, setTyped] = useState(address)
  const [time, setTime] = useState(localTime(at, 'second'))
  return (
    <form
      role="search"
      className={`row bottom ${classes.question}`}
      style={{ gap: '0.6rem' }}
      onSubmit={event => {
        event.preventDefault()
        if (typed.trim()) onAsk({ address: typed.trim(), at: instantOf(time) })
      }}
    >
      <TextInput
        label={t('addresses.address')}
        placeholder="192.0.2.7, 192.0.2.0/24"
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <TimeInput
        precision="second"
        label={t('addresses.at')}
        value={time}
        onChange={event => setTime(event.currentTarget.value)}
      />
      <Button type="submit" leftSection={<IconSearch size={16} aria-hidden />}>
        {t('addresses.ask')}
      </Button>
    </form>
  )
}

/** Who had an address at an instant, before and after, or in a period. The query is in the page's address. */
export default function AddressesPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const [address, at, from, to] = ['address', 'at', 'from', 'to'].map(name => params.get(name)?.trim() ?? '')
  // Links to the present holders use 'now'. Resolve it once, so that the query stays the same.
  const since = useMemo(() => (from === 'now' ? new Date().toISOString() : instantOf(from ?? '')), [from, address])
  const ask = (next: Record<string, string | null>) => {
    const entries = Object.entries({ address: address ?? '', at: at ?? '', from: from ?? '', to: to ?? '', ...next })
    setParams(Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : []))))
  }
  const instant = instantOf(at ?? '')
  const isRange = address?.includes('/') ?? false
  // For a range at an instant, query that millisecond.
  const moment = isRange && !from && !to ? instant : null
  const first = moment ?? since
  const last = moment ? new Date(Date.parse(moment) + 1).toISOString() : instantOf(to ?? '')
  return (
    <div className="stack">
      <p className="dim">{t('addresses.hint')}</p>
      <Question key={`${address} ${at}`} address={address ?? ''} at={instant} onAsk={ask} />
      {!address ? (
        <EmptyState title={t('addresses.none')} body={t('addresses.noneHint')} />
      ) : (
        <>
          {!isRange && <Holders address={address} at={instant} />}
          <History key={`${address} ${first} ${last}`} address={address} from={first} to={last} onAsk={ask} />
        </>
      )}
    </div>
  )
}

/** Who had an address at an instant, before and after, with a reply to the complaint. */
function Holders({ address, at }: { address: string; at: string | null }) {
  const t = useT()
  const { data, error, refetch } = useQuery({
    ...read(inventory.addressHolders, { query: { address, ...(at ? { at } : {}) } }),
    // Every query is audited, so do not repeat it on window focus.
    staleTime: Infinity,
    refetchOnWindowFocus: false
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={200} />
  return (
    <>
      <section
        className={`card stack breaks ${classes.answer}`}
        style={{ gap: '0.7rem', padding: '0.9rem 1.1rem' }}
        aria-label={t('addresses.answer')}
      >
        <h2>
          <span className="mono">{data.address}</span> · <Moment at={data.at} />
        </h2>
        <p className="dim">
          {data.range
            ? t('addresses.range', { cidr: data.range.cidr, server: data.server?.name ?? '–' })
            : t('addresses.noRange')}
        </p>
        {data.held.length === 0 && <p>{t('addresses.noLeases')}</p>}
        {data.held.map(lease => (
          <Lease key={lease.id} lease={lease} at={data.at} />
        ))}
        <Neighbour title="addresses.before" lease={data.before} />
        <Neighbour title="addresses.after" lease={data.after} />
      </section>
      <AbuseReply texts={data.texts} />
    </>
  )
}

function Lease({ lease, at }: { lease: AddressLease; at: string }) {
  const t = useT()
  const facts: Fact[] = [
    [t('addresses.order'), <OrderLink id={lease.order_id} number={lease.order} />],
    [t('addresses.user'), <UserLink lease={lease} />],
    [t('addresses.rules'), lease.acls.map(({ name }) => name).join(', ')],
    [t('addresses.state'), <LeaseState lease={lease} at={at} />],
    [t('addresses.held'), <Term lease={lease} />],
    [t('addresses.term'), lease.expired_at && <OrderTerm lease={lease} />],
    [t('addresses.block'), <span className="mono">{lease.address}</span>],
    [t('proofs.ended'), lease.proof && <LeaseProved lease={lease} />]
  ]
  return (
    <div className={classes.lease}>
      <FactList label={lease.order} facts={facts} />
    </div>
  )
}

const Term = ({ lease }: { lease: AddressLease }) => {
  const t = useT()
  return (
    <>
      <Moment at={lease.leased_at} /> – {lease.released_at ? <Moment at={lease.released_at} /> : t('addresses.still')}
    </>
  )
}

const OrderTerm = ({ lease }: { lease: AddressLease }) => (
  <>
    {lease.delivered_at ? <Moment at={lease.delivered_at} /> : '…'} –{' '}
    {lease.expired_at && <Moment at={lease.expired_at} />}
  </>
)

/** The last holder before the instant, or the first after it. */
function Neighbour({ title, lease }: { title: Key; lease: AddressLease | null }) {
  const t = useT()
  return (
    <p className="size-body">
      <strong>{t(title)}</strong>{' '}
      {lease ? (
        <>
          <OrderLink id={lease.order_id} number={lease.order} /> · <UserLink lease={lease} /> · <Term lease={lease} /> ·{' '}
          <LeaseState lease={lease} />
        </>
      ) : (
        <span className="dim">{t('addresses.noOthers')}</span>
      )}
    </p>
  )
}

type HistoryProps = {
  address: string
  from: string | null
  to: string | null
  onAsk: (next: { from: string | null; to: string | null }) => void
}

/** Everyone who had the address, or addresses of the range, in a period. Exports to a file. */
function History({ address, from, to, onAsk }: HistoryProps) {
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
