import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Confirmation, Scope } from '@netlet/contract'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { pageAt } from '@netlet/contract/pages'
import { type RefObject, useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { rules } from '../../kit/form.ts'
import { ApiKeyForm as ApiKeyRules } from '../../kit/schemas.ts'
import { ShownOnce } from '../../kit/shown-once.tsx'
import { ConfirmForm } from './confirm-form.tsx'
import { daysOf, KeyLife, KeyList } from './key-list.tsx'

/** API keys of the customer: create, show once, last use, revoke. */
export function ApiKeys() {
  const t = useT()
  const [made, setMade] = useState<string | null>(null)
  const create = useFocusAfterReplace(made !== null)
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
      <KeyList
        label={t('keys.list')}
        none={t('keys.none')}
        rights={({ scopes }) => <span>{scopes.map(scope => t(`keys.${scope}`)).join(', ')}</span>}
      />
    </>
  )
}

type Values = { name: string; scopes: Scope[]; life: string }

type Props = {
  /** Called with the key, which the server never returns again. */
  onMade: (key: string) => void
  /** Set to the button that creates it. */
  button: RefObject<HTMLButtonElement | null>
}

const bodyOf = ({ name, scopes, life }: Values) => ({ name, scopes, days: daysOf(life) })

function ApiKeyForm({ onMade, button }: Props) {
  const t = useT()
  const form = useForm<Values>({
    name: 'api-key',
    initialValues: { name: '', scopes: ['read'], life: '' },
    validate: values => {
      const { password: _confirmed, ...errors } = rules(ApiKeyRules)(bodyOf(values))
      return errors
    }
  })
  const draft = useFormDraft('api-key', form, {})
  const create = async (confirmation: Confirmation) => {
    const { key } = await call(accounts.createApiKey, { body: { ...bodyOf(form.getValues()), ...confirmation } })
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
      <KeyLife endless {...form.getInputProps('life')} />
    </ConfirmForm>
  )
}
