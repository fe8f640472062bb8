import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useT } from '../../i18n/index.ts'
import { EmptyState } from '../../kit/states.tsx'
import { useTitle } from '../../kit/use-title.ts'

/** A placeholder for pages to come. */
export default function EmptyPage() {
  const t = useT()
  useTitle(t('product.none'))
  return (
    <div className="wide page" style={{ minHeight: '50vh' }}>
      <EmptyState title={t('product.none')} body={t('empty.hint')}>
        <Button component={Link} to={pageAt('home')} variant="default">
          {t('nav.home')}
        </Button>
      </EmptyState>
    </div>
  )
}
