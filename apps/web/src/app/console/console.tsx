import { Link, useLocation } from 'react-router'
import { useSession } from '../../api/session.ts'
import Palette from '../palette/palette.tsx'
import { Preload } from './preload.ts'
import { ConfirmSession } from './confirm-session.tsx'
import { Button } from '@mantine/core'
import { useT } from '../../i18n/account.ts'
import { Day } from '../../kit/time.tsx'
import { pathOf } from '../manifest.ts'

/** Parts that an administrator has on every page. Without a needed second factor, the server refuses their calls. */
export default function Console() {
  const { user } = useSession()
  const { pathname } = useLocation()
  if (!user || user.must_add_second_factor) return null
  return (
    <>
      {user.second_factor_due && pathname.startsWith('/dashboard') && <SecondFactorDue due={user.second_factor_due} />}
      <Palette />
      <Preload />
      <ConfirmSession />
    </>
  )
}

/** Tells an operator by when the account needs a second factor. */
function SecondFactorDue({ due }: { due: string }) {
  const t = useT()
  return (
    <aside
      aria-label={t('factors.title')}
      style={{ background: 'var(--nl-accent-soft)', borderBottom: '1px solid var(--nl-line)' }}
    >
      <div className="wide row" style={{ paddingBlock: '0.5rem', justifyContent: 'center' }}>
        <Day at={due}>{day => t('factors.due', { day })}</Day>
        <Button component={Link} to={pathOf('userSettings')} size="compact-sm" variant="default">
          {t('factors.add')}
        </Button>
      </div>
    </aside>
  )
}
