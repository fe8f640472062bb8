import type { User } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconWorld } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { countryName, flagOf } from '../../kit/country.tsx'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import classes from './users.module.css'
import { none } from '../../kit/none.tsx'

export const pathOfUser = (id: number): string => pageAt('user', { id })

export const UserCell = ({ user }: { user: User }) => (
  <div className={`stack start ${classes.who}`} style={{ gap: 0 }}>
    <Link className="cut strong plain" to={pathOfUser(user.id)} title={user.username}>
      {user.username}
    </Link>
    <span className="cut dim size-table" title={user.email}>
      {user.email}
    </span>
  </div>
)

export function StatusBadge({ user }: { user: Pick<User, 'is_active'> }) {
  const t = useT()
  return (
    <StateBadge tone={user.is_active ? 'good' : 'bad'}>
      {t(user.is_active ? 'users.active' : 'users.banned')}
    </StateBadge>
  )
}

/** Countries whose flag is shown here. The specification shows a globe for the others. */
const FLAGS = new Set('AU BR CA CN DE FR GB HK ID IN IT JP KR MY RU SG TH TW US VN'.split(' '))

/** A flag or a globe, decorative because text follows. */
function Flag({ country }: { country: string | null }) {
  const src = country !== null && FLAGS.has(country) ? flagOf(country) : undefined
  if (!src) return <IconWorld size={16} aria-hidden data-globe />
  return <img src={src} alt="" width={18} height={12} className="flag" data-country={country} />
}

export const Address = ({ ip, country }: { ip: string | null; country: string | null }) =>
  ip === null ? (
    none
  ) : (
    <span className="row unwrapped inline" style={{ gap: '0.4rem' }}>
      <Flag country={country} />
      <span className="mono">{ip}</span>
    </span>
  )

/** A country's name in the current language; 'Unknown' without one. */
export function Country({ country }: { country: string | null }) {
  const t = useT()
  const language = useLanguage()
  if (country === null) return <>{t('users.unknown')}</>
  return <>{`${countryName(country, language)} (${country})`}</>
}

export function LastLogin({ at }: { at: string | null }) {
  const t = useT()
  return at === null ? <>{t('users.never')}</> : <Ago at={at} />
}
