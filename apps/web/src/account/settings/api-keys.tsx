import type { ApiKey } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { ShownOnce } from '../../kit/shown-once.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Ago, Day } from '../../kit/time.tsx'
import { ApiKeyForm } from './api-key-form.tsx'
import classes from './api-keys.module.css'

/** API keys of the customer: create, show once, last use, revoke. */
export function ApiKeys() {
  const t = useT()
  const [made, setMade] = useState<string | null>(null)
  const create = useFocusAfterReplace(made !== null)
  const { data, isPending, error, refetch } = useQuery(read(accounts.apiKeys))
  return (
    <>
      <p className="dim">
        {t('keys.hint')} <Link to={pageAt('apiReference')}>{t('keys.docs')}</Link>
      </p>
      {made ? (
        <ShownOnce words={t('keys.once')} text={made} name={t('keys.key')} onDone={() => setMade(null)} />
      ) : (
        <ApiKeyForm onMade={setMade} button={create} />
      )}
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton height={52} />
      ) : data?.length ? (
        <ul className={classes.list} aria-label={t('keys.list')}>
          {data.map(key => (
            <Key key={key.id} apiKey={key} />
          ))}
        </ul>
      ) : (
        <p className="dim">{t('keys.none')}</p>
      )}
    </>
  )
}

function Key({ apiKey }: { apiKey: ApiKey }) {
  const t = useT()
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
        <strong>{apiKey.name}</strong>
        <span className="mono">{apiKey.hint}…</span>
        <span>{apiKey.scopes.map(scope => t(`keys.${scope}`)).join(', ')}</span>
        <span>
          {t('keys.made')} <Day at={apiKey.created_at} /> · {t('keys.used')}{' '}
          {apiKey.last_used_at ? <Ago at={apiKey.last_used_at} /> : t('keys.never')}
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
