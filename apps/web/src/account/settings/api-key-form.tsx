import type { Scope } from '@netlet/contract'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type RefObject } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { ApiKeyForm as ApiKeyRules } from '../../kit/schemas.ts'

type Values = { name: string; scopes: Scope[]; password: string }

type Props = {
  /** Called with the key, which the server never returns again. */
  onMade: (key: string) => void
  /** Set to the button that creates it. */
  button: RefObject<HTMLButtonElement | null>
}

export function ApiKeyForm({ onMade, button }: Props) {
  const t = useT()
  const form = useForm<Values>({
    name: 'api-key',
    initialValues: { name: '', scopes: ['read'], password: '' },
    validate: rules(ApiKeyRules)
  })
  const draft = useFormDraft('api-key', form, { secrets: ['password'] })
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
        <div className="row stretch" style={{ gap: '0.5rem 1.5rem', paddingBlock: '0.35rem' }}>
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
