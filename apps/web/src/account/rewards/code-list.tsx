import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { rewards } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { discountText } from '../../kit/money.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import classes from './rewards.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

/** The user's promo codes; `gifts`: only gift cards. */
export function CodeList({ gifts = false }: { gifts?: boolean }) {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(rewards.coupons, { query: { limit: 200 } }))
  const codes = gifts ? data?.data.filter(code => code.code_type === 2) : data?.data
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    )
  if (codes?.length === 0)
    return (
      <div className="card">
        <EmptyState title={t('noData')} body={gifts ? t('gift.noneHint') : t('promo.noneHint')}>
          <Button component={Link} to={pageAt('rewards')} variant="default">
            {t('exchange.title')}
          </Button>
        </EmptyState>
      </div>
    )
  return (
    <ul style={gridStyle('15rem', '0.9rem')}>
      {isPending
        ? [1, 2, 3].map(key => (
            <li key={key}>
              <Skeleton height={148} radius="md" />
            </li>
          ))
        : codes?.map(code => (
            <li key={code.id} className="card stack" style={{ gap: '0.5rem', padding: '1.1rem 1.2rem' }}>
              <div className={`row between ${classes.codeHead}`} style={{ gap: '0.5rem' }}>
                <strong className="num">{discountText(code)}</strong>
                <span className="dim">{code.code_type === 2 ? t('promo.gift') : t('promo.discount')}</span>
              </div>
              <p className={`size-body ${code.is_used ? 'dim' : 'strong'}`}>
                {code.is_used ? t('promo.used') : t('promo.unused')}
              </p>
              <div className="row between" style={{ gap: '0.5rem' }}>
                <code className="mono breaks shrinks">{code.code}</code>
                <CopyButton text={code.code} name={code.code} done={t('code.copied')} failed={t('copyFailed')} />
              </div>
              {code.is_used ? (
                <span className="dim">{t('promo.use')}</span>
              ) : (
                <Link to={pageAt('product')}>{t('promo.use')}</Link>
              )}
            </li>
          ))}
    </ul>
  )
}
