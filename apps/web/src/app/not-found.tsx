import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useT } from '../i18n/index.ts'
import { useTitle } from '../kit/use-title.ts'

export function NotFound() {
  const t = useT()
  useTitle(t('notFound.title'))
  return (
    <div className="wide page stack" style={{ minHeight: '60vh', justifyContent: 'center', alignItems: 'flex-start' }}>
      <h1>{t('notFound.title')}</h1>
      <p className="dim">{t('notFound.body')}</p>
      <Button component={Link} to={pageAt('product')}>
        {t('nav.product')}
      </Button>
    </div>
  )
}
