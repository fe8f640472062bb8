import type { AddressLease } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT, type Key } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { AbuseReply } from './abuse-reply.tsx'
import classes from './addresses.module.css'
import { FactList, type Fact } from '../kit/index.ts'
import { OrderLink } from '../orders/order-link.tsx'
import { Moment } from '../../kit/time.tsx'
import { LeaseProved, LeaseState, UserLink } from './cells.tsx'

/** Who had an address at an instant, before and after, with a reply to the complaint. */
export function Holders({ address, at }: { address: string; at: string | null }) {
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
        {data.held.length === 0 && <p>{t('addresses.nobody')}</p>}
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
        <span className="dim">{t('addresses.nobodyElse')}</span>
      )}
    </p>
  )
}
