import type { AddressLease } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { useT, type Key } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Moment, momentText } from '../../kit/time.tsx'
import classes from './addresses.module.css'

type Props = { lease: AddressLease }

export const UserLink = ({ lease }: Props) => (
  <Link to={`${pageAt('userList')}?search=${encodeURIComponent(lease.username)}`}>{lease.username}</Link>
)

/**
 * Was the address in use, only reserved, or held after its order's end? @param at the instant; without it, the whole
 * period
 */
export function LeaseState({ lease, at }: Props & { at?: string }) {
  const t = useT()
  const language = useLanguage()
  const since = (words: Key, time: string) => (
    <span className={`dim ${classes.since}`}>{t(words, { time: momentText(time, language) })}</span>
  )
  if (at && lease.active_from && at < lease.active_from)
    return (
      <>
        <StateBadge tone="wait">{t('addresses.reservedThen')}</StateBadge>
        {since('addresses.deliveredFrom', lease.active_from)}
      </>
    )
  if (!lease.active_from)
    return (
      <StateBadge tone={lease.released_at ? 'off' : 'wait'}>
        {t(lease.released_at ? 'addresses.neverDelivered' : 'addresses.reserved')}
      </StateBadge>
    )
  const stopped = lease.stopped_at
  if (stopped && (at ? stopped <= at : !lease.released_at))
    return (
      <>
        <StateBadge tone="off">{t('addresses.heldOnly')}</StateBadge>
        {since('addresses.stopped', stopped)}
      </>
    )
  return (
    <StateBadge tone={lease.released_at ? 'off' : 'good'}>
      {t(lease.released_at ? 'addresses.givenBack' : 'addresses.leased')}
    </StateBadge>
  )
}

/** Whether the lease's credentials were seen to be refused after its end. */
export function LeaseProved({ lease: { proof } }: Props) {
  const t = useT()
  if (!proof) return <span className="dim">{t('proofs.untried')}</span>
  return (
    <>
      {t(`proofs.state.${proof.state}`)}{' '}
      <span className="dim">
        <Moment at={proof.at} />
      </span>
    </>
  )
}
