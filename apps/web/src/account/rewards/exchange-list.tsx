import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { rewards } from '../../api/routes.ts'
import { reloadSession, useSession } from '../../api/session.ts'
import { useIdempotencyKey, useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { money, numberText } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import classes from './rewards.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

type Option = { mount: string; point: number }

export function ExchangeList() {
  const t = useT()
  const { user } = useSession()
  const pending = user?.pending_points ?? 0
  const coins = Math.max(0, (user?.reward_points ?? 0) - pending)
  const { data, isPending, error, refetch } = useQuery(read(rewards.exchangeList))
  const idempotency = useIdempotencyKey()
  const exchange = useMutation({
    mutationFn: ({ mount, point }: Option) => {
      const body = { mount, point }
      return call(rewards.exchange, { body }, { headers: { 'idempotency-key': idempotency.keyFor(body) } })
    },
    onSuccess: () => {
      idempotency.forgetKey()
      notify('good', t('exchange.done'))
      void reloadSession()
      void refresh(rewards.coupons, rewards.pointRecords, rewards.exchangeList)
    },
    onError: failure => {
      notify('bad', failureText(failure))
      // Its price may have changed.
      void refresh(rewards.exchangeList)
    }
  })
  const ask = async ({ mount, point }: Option) => {
    if (coins < point) return notify('bad', t('exchange.insufficient'))
    const body = t('exchange.confirm', { coins: numberText(point), mount: money(mount) })
    if (await confirm({ title: t('exchange.ask'), body })) exchange.mutate({ mount, point })
  }
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    )
  if (data?.length === 0)
    return (
      <div className="card">
        <EmptyState title={t('exchange.none')} body={t('exchange.noneHint')}>
          <Button component={Link} to={pageAt('product')} variant="default">
            {t('exchange.browse')}
          </Button>
        </EmptyState>
      </div>
    )
  return (
    <>
      <p className="dim num">
        {t('exchange.coins', { coins: numberText(coins) })}
        {pending > 0 && ` ${t('exchange.pending', { coins: numberText(pending) })}`}
      </p>
      <ul style={gridStyle('15rem', '0.9rem')}>
        {isPending
          ? [1, 2, 3].map(key => (
              <li key={key}>
                <Skeleton height={132} radius="md" />
              </li>
            ))
          : data?.map(option => (
              <li
                key={option.mount}
                className={`card stack start ${classes.reward}`}
                style={{ gap: '0.35rem', padding: '1.1rem 1.2rem' }}
              >
                <strong className="num">{money(option.mount)}</strong>
                <span className="dim num">{t('exchange.cost', { coins: numberText(option.point) })}</span>
                <Button
                  size="xs"
                  variant={coins < option.point ? 'default' : 'filled'}
                  loading={exchange.isPending && exchange.variables?.mount === option.mount}
                  aria-label={`${t('exchange.do')} ${money(option.mount)}`}
                  onClick={() => void ask(option)}
                >
                  {t('exchange.do')}
                </Button>
              </li>
            ))}
      </ul>
    </>
  )
}
