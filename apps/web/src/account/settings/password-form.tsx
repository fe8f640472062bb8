import type { PasswordOwner } from '@netlet/contract/password-strength'
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { NewPasswordInput, PasswordInput } from '../../kit/new-password-input.tsx'
import { ChangePasswordBody, EmailChangeBody, EmailChangeCodeBody } from '../../kit/schemas.ts'
import type { Confirmation } from '@netlet/contract'
import { useState } from 'react'
import { CodeInput } from '../../kit/code-input.tsx'
import { notify } from '../../kit/notify.ts'
import { ConfirmForm } from './confirm-form.tsx'

/** Shows no message after success: it only empties the fields. */
export function PasswordForm({ chatName, owner }: { chatName: string | null; owner: PasswordOwner }) {
  const t = useT()
  const form = useForm({
    name: 'password',
    initialValues: { old_password: '', new_password: '', unbind_discord: false },
    validate: rules(ChangePasswordBody)
  })
  const failure = useFormFailure(form)
  const change = useMutation({
    mutationFn: () => call(accounts.changePassword, { body: form.values }),
    onSuccess: () => {
      form.reset()
      void Promise.all([reloadSession(), refresh(accounts.sessions), refresh(accounts.apiKeys)])
    },
    onError: failure.refused
  })
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('settings.show') } }
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        () => change.mutate(),
        errors => failure.invalid(errors)
      )}
    >
      <PasswordInput
        label={t('settings.old')}
        autoComplete="current-password"
        {...eye}
        {...form.getInputProps('old_password')}
      />
      <NewPasswordInput label={t('settings.new')} owner={owner} {...eye} {...form.getInputProps('new_password')} />
      {chatName !== null && (
        <Checkbox
          label={t('settings.unbind', { name: chatName })}
          {...form.getInputProps('unbind_discord', { type: 'checkbox' })}
        />
      )}
      {failure.alert}
      <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
        {t('settings.change')}
      </Button>
    </form>
  )
}

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
