import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useT } from '../../i18n/account.ts'
import { Day } from '../../kit/time.tsx'
import { pathOf } from '../manifest.ts'

/** Tells an operator by when the account needs a second factor. */
export function SecondFactorDue({ due }: { due: string }) {
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
