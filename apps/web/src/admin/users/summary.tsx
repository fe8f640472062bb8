import type { UserDetail } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Fragment } from 'react'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { StateWithDetails } from '../../kit/state-badge.tsx'
import { Moment } from '../../kit/time.tsx'
import { FactList, StatList, type Fact } from '../kit/index.ts'
import { Address, Country, LastLogin, pathOfUser } from './cells.tsx'
import type { TabName } from './tabs.ts'

/** A user at a glance. Each figure links to its rows. */
export function Summary({ user }: { user: UserDetail }) {
  const t = useT()
  const { figures } = user
  const tab = (name: TabName) => `?tab=${name}`
  const stats: [string, string, string][] = [
    [t('users.figure.orders'), tab('orders'), numberText(figures.orders)],
    [t('users.figure.live'), `${tab('orders')}&orders_are=live`, numberText(figures.live_orders)],
    [t('users.figure.unpaid'), `${tab('orders')}&orders_are=unpaid`, numberText(figures.unpaid_orders)],
    [t('users.figure.paid'), tab('payments'), money(figures.paid)],
    [t('users.reward_points'), tab('points'), numberText(user.reward_points)],
    [t('users.tab.keys'), tab('keys'), numberText(user.api_keys)],
    [t('users.tab.sessions'), tab('sessions'), numberText(user.sessions)]
  ]
  const facts: Fact[] = [
    [t('users.id'), user.id],
    [t('users.email'), <Email of={user} />],
    [t('users.chat'), user.discord_name ?? t('users.noChat')],
    [t('users.secondFactors'), numberText(user.second_factors)],
    [t('users.language'), user.language],
    [t('users.created_at'), <Moment at={user.created_at} ago />],
    [t('users.level'), user.level],
    [t('users.level_points'), numberText(user.level_points)],
    [t('users.invite_code'), <span className="mono">{user.invite_code}</span>],
    [t('users.invite_count'), numberText(user.invite_count)],
    [
      t('users.invited_by'),
      user.invited_by ? <Link to={pathOfUser(user.invited_by.id)}>{user.invited_by.username}</Link> : '–'
    ],
    [t('users.last_login'), <LastLogin at={user.last_login_time} />],
    [t('users.last_login_ip'), <Address ip={user.last_login_ip} country={user.last_location} />],
    [t('users.location'), <Country country={user.last_location} />]
  ]
  return (
    <div className="stack">
      <StatList
        label={t('users.figures')}
        stats={stats.map(([title, to, value]) => [title, <Link to={to}>{value}</Link>])}
      />
      <div className="card panel">
        <FactList facts={facts} />
      </div>
    </div>
  )
}

function Email({ of: { email, mail_blocked: blocked } }: { of: UserDetail }) {
  const t = useT()
  // Allow long addresses to wrap at '@' and '.'.
  const broken = email.split(/(?<=[@.])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ))
  if (!blocked) return broken
  return (
    <StateWithDetails>
      <span>{broken}</span>
      <Link to={`${pageAt('mails')}?tab=blocked&search=${encodeURIComponent(email)}`}>
        {t(`users.mailBlocked.${blocked}`)}
      </Link>
    </StateWithDetails>
  )
}
