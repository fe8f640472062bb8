import type { Confirmation } from '@netlet/contract'
import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { CodeInput } from '../../kit/code-input.tsx'
import { rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { EmailChangeBody, EmailChangeCodeBody } from '../../kit/schemas.ts'
import { ConfirmForm } from './confirm-form.tsx'

/** Changes the e-mail address with a code mailed to the new one. */
export function EmailForm({ onDone }: { onDone: () => void }) {
  const t = useT()
  const [codeId, setCodeId] = useState<string | null>(null)
  const form = useForm({
    name: 'email',
    initialValues: { email: '', email_code: '' },
    validate: values => {
      const check = codeId === null ? rules(EmailChangeCodeBody) : rules(EmailChangeBody)
      const { password: _confirmed, ...errors } = check({ ...values, email_code_id: codeId })
      return errors
    }
  })
  const confirm = async (confirmation: Confirmation) => {
    const { email, email_code } = form.getValues()
    if (codeId === null) {
      const sent = await call(accounts.changeEmailCode, { body: { email, ...confirmation } })
      setCodeId(sent.email_code_id)
      notify('good', t('settings.emailSent'))
      return
    }
    await call(accounts.changeEmail, { body: { email, email_code, email_code_id: codeId, ...confirmation } })
    notify('good', t('settings.emailChanged'))
    void reloadSession()
    onDone()
  }
  return (
    <ConfirmForm
      label={codeId === null ? t('settings.emailSend') : t('settings.emailChange')}
      fields={form}
      onConfirm={confirm}
      onCancel={onDone}
    >
      <TextInput
        label={t('settings.emailNew')}
        type="email"
        autoComplete="email"
        disabled={codeId !== null}
        autoFocus
        {...form.getInputProps('email')}
      />
      {codeId !== null && <CodeInput label={t('settings.emailCode')} autoFocus {...form.getInputProps('email_code')} />}
    </ConfirmForm>
  )
}
