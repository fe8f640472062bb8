import type { AddressLease } from '@netlet/contract'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { StateBadge } from '../../kit/state-badge.tsx'

type Props = { lease: AddressLease }

export const UserLink = ({ lease }: Props) => (
  <Link to={`/dashboard/index/userList?search=${encodeURIComponent(lease.username)}`}>{lease.username}</Link>
)

/** Was it in use, or reserved only? */
export function LeaseState({ lease }: Props) {
  const t = useT()
  if (!lease.active_from)
    return (
      <StateBadge tone={lease.released_at ? 'off' : 'wait'}>
        {t(lease.released_at ? 'addresses.neverPaid' : 'addresses.reserved')}
      </StateBadge>
    )
  return (
    <StateBadge tone={lease.released_at ? 'off' : 'good'}>
      {t(lease.released_at ? 'addresses.givenBack' : 'addresses.leased')}
    </StateBadge>
  )
}
