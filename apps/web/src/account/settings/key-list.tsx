// Styles of the select's arrow.
import '@mantine/core/styles/Combobox.layer.css'
import { Button, NativeSelect, type NativeSelectProps, Skeleton } from '@mantine/core'
import type { ApiKey } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { Ago, Day, useClock } from '../../kit/time.tsx'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import classes from './api-keys.module.css'

type Props = {
  /** The list's name. */
  label: string
  /** Shown if there is none. */
  none: string
  rights: (key: ApiKey) => ReactNode
}

/** The user's API keys or tokens with their rights, end and last use. Each can be revoked. */
export function KeyList({ label, none, rights }: Props) {
  const { data, isPending, error, refetch } = useQuery(read(accounts.apiKeys))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (isPending) return <Skeleton height={52} />
  if (data.length === 0) return <p className="dim">{none}</p>
  return (
    <ul className={classes.list} aria-label={label}>
      {data.map(key => (
        <Key key={key.id} apiKey={key} rights={rights(key)} />
      ))}
    </ul>
  )
}

function Key({ apiKey, rights }: { apiKey: ApiKey; rights: ReactNode }) {
  const t = useT()
  const now = useClock()
  const isOver = apiKey.expires_at !== null && Date.parse(apiKey.expires_at) <= now
  const revoke = useMutation({
    mutationFn: () => call(accounts.revokeApiKey, { params: { id: apiKey.id } }),
    onError: error => notify('bad', failureText(error)),
    onSettled: () => refresh(accounts.apiKeys)
  })
  const ask = async () => {
    const question = { title: t('keys.revokeTitle', { name: apiKey.name }), body: t('keys.revokeBody'), danger: true }
    if (await confirm(question)) revoke.mutate()
  }
  return (
    <li>
      <div className={classes.facts}>
        <strong>
          {apiKey.name} {isOver && <StateBadge tone="off">{t('keys.over')}</StateBadge>}
        </strong>
        <span className="mono">{apiKey.hint}…</span>
        {rights}
        <span>
          {t('keys.made')} <Day at={apiKey.created_at} /> · {t(isOver ? 'keys.ended' : 'keys.ends')}{' '}
          {apiKey.expires_at ? <Day at={apiKey.expires_at} /> : t('keys.noEnd')}
        </span>
        <span>
          {t('keys.used')} {apiKey.last_used_at ? <Ago at={apiKey.last_used_at} /> : t('keys.never')}
          {apiKey.last_network && <span className="mono"> · {apiKey.last_network}</span>}
        </span>
      </div>
      <Button
        size="xs"
        variant="default"
        aria-label={`${t('keys.revoke')}: ${apiKey.name}`}
        loading={revoke.isPending}
        onClick={() => void ask()}
      >
        {t('keys.revoke')}
      </Button>
    </li>
  )
}

const LIVES = [30, 90, 180, 365]

/** The days of a chosen life; null: it has no end. */
export const daysOf = (life: string): number | null => (life === '' ? null : Number(life))

/** Chooses for how long a new key is valid, in days. `endless`: it may have no end (''). */
export function KeyLife({ endless = false, ...input }: NativeSelectProps & { endless?: boolean }) {
  const t = useT()
  const lives = LIVES.map(days => ({ value: String(days), label: t('keys.inDays', { days }) }))
  return (
    <NativeSelect
      label={t('keys.ends')}
      data={endless ? [{ value: '', label: t('keys.noEnd') }, ...lives] : lives}
      {...input}
    />
  )
}
