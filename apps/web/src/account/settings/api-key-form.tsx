import type { Scope } from '@netlet/contract'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useState, type RefObject } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { draftOf } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { ApiKeyForm as ApiKeyRules } from '../../kit/schemas.ts'
import classes from './api-keys.module.css'

type Values = { name: string; scopes: Scope[]; password: string }

type Props = {
  /** Called with the key, which the server never returns again. */
  onMade: (key: string) => void
  /** Set to the button that creates it. */
  button: RefObject<HTMLButtonElement | null>
}

/** Unsaved input, restored after a reload or an expired session. */
const draftFor = (userId: number) => draftOf(`api-key-by-${userId}`, { name: '', scopes: 'read' })

export function ApiKeyForm({ onMade, button }: Props) {
  const t = useT()
  const { user } = useSession()
  const [draft] = useState(() => draftFor(user?.id ?? 0))
  const [kept] = useState(() => draft.read())
  const form = useForm<Values>({
    name: 'api-key',
    initialValues: {
      name: kept.name,
      scopes: API_KEY_SCOPES.filter(scope => kept.scopes.split(',').includes(scope)),
      password: ''
    },
    validate: rules(ApiKeyRules)
  })
  const { name, scopes } = form.values
  useEffect(() => draft.keep({ name, scopes: scopes.join(',') }), [draft, name, scopes])
  const failure = useFormFailure(form)
  const create = useMutation({
    mutationFn: (body: Values) => call(accounts.createApiKey, { body }),
    onSuccess: ({ key }) => {
      draft.forget()
      onMade(key)
      void refresh(accounts.apiKeys)
    },
    onError: failure.refused
  })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => create.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      <TextInput label={t('keys.name')} maxLength={64} autoComplete="off" {...form.getInputProps('name')} />
      <Checkbox.Group label={t('keys.scopes')} {...form.getInputProps('scopes')}>
        <div className={classes.scopes}>
          {API_KEY_SCOPES.map(scope => (
            <Checkbox key={scope} value={scope} label={t(`keys.${scope}`)} />
          ))}
        </div>
      </Checkbox.Group>
      <PasswordInput
        label={t('settings.confirm')}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t('settings.show') }}
        {...form.getInputProps('password')}
      />
      {failure.alert}
      <Button ref={button} type="submit" loading={create.isPending} style={{ alignSelf: 'flex-start' }}>
        {t('keys.create')}
      </Button>
    </form>
  )
}
