import { Button, Checkbox, Skeleton, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ApiKey, Confirmation, Scope } from '@netlet/contract'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { ApiKeyForm as ApiKeyRules } from '../../kit/schemas.ts'
import { ShownOnce } from '../../kit/shown-once.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Ago, Day } from '../../kit/time.tsx'
import classes from './api-keys.module.css'
import { ConfirmForm } from './confirm-form.tsx'

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

type Values = { name: string; scopes: Scope[] }

type Props = {
  /** Called with the key, which the server never returns again. */
  onMade: (key: string) => void
  /** Set to the button that creates it. */
  button: RefObject<HTMLButtonElement | null>
}

function ApiKeyForm({ onMade, button }: Props) {
  const t = useT()
  const form = useForm<Values>({
    name: 'api-key',
    initialValues: { name: '', scopes: ['read'] },
    validate: values => {
      const { password: _confirmed, ...errors } = rules(ApiKeyRules)(values)
      return errors
    }
  })
  const draft = useFormDraft('api-key', form, {})
  const create = async (confirmation: Confirmation) => {
    const { key } = await call(accounts.createApiKey, { body: { ...form.getValues(), ...confirmation } })
    draft.forget()
    onMade(key)
    void refresh(accounts.apiKeys)
  }
  return (
    <ConfirmForm label={t('keys.create')} fields={form} button={button} onConfirm={create}>
      <TextInput label={t('keys.name')} maxLength={64} autoComplete="off" {...form.getInputProps('name')} />
      <Checkbox.Group label={t('keys.scopes')} {...form.getInputProps('scopes')}>
        <div className="row stretch" style={{ gap: '0.5rem 1.5rem', paddingBlock: '0.35rem' }}>
          {API_KEY_SCOPES.map(scope => (
            <Checkbox key={scope} value={scope} label={t(`keys.${scope}`)} />
          ))}
        </div>
      </Checkbox.Group>
    </ConfirmForm>
  )
}
