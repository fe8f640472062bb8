import type { Confirmation, Scope } from '@netlet/contract'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type RefObject } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { rules } from '../../kit/form.ts'
import { ApiKeyForm as ApiKeyRules } from '../../kit/schemas.ts'
import { ConfirmForm } from './confirm-form.tsx'

type Values = { name: string; scopes: Scope[] }

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
