import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { CodeInput } from '../../kit/code-input.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { EmailChangeBody, EmailChangeCodeBody } from '../../kit/schemas.ts'

/** Changes the e-mail address with a code mailed to the new one. */
export function EmailForm({ onDone }: { onDone: () => void }) {
  const t = useT()
  const [codeId, setCodeId] = useState<string | null>(null)
  const form = useForm({
    name: 'email',
    initialValues: { email: '', password: '', email_code: '' },
    validate: values =>
      codeId === null
        ? rules(EmailChangeCodeBody)(values)
        : rules(EmailChangeBody)({ ...values, email_code_id: codeId })
  })
  const failure = useFormFailure(form, { email_code_id: 'email_code' })
  const send = useMutation({
    mutationFn: ({ email, password }: typeof form.values) =>
      call(accounts.changeEmailCode, { body: { email, password } }),
    onSuccess: ({ email_code_id }) => {
      setCodeId(email_code_id)
      notify('good', t('settings.emailSent'))
    },
    onError: failure.refused
  })
  const change = useMutation({
    mutationFn: (body: typeof form.values & { email_code_id: string }) => call(accounts.changeEmail, { body }),
    onSuccess: () => {
      notify('good', t('settings.emailChanged'))
      void reloadSession()
      onDone()
    },
    onError: failure.refused
  })
  const submit = (values: typeof form.values) =>
    codeId === null ? send.mutate(values) : change.mutate({ ...values, email_code_id: codeId })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(submit, errors => failure.invalid(errors))}
    >
      <TextInput
        label={t('settings.emailNew')}
        type="email"
        autoComplete="email"
        disabled={codeId !== null}
        autoFocus
        {...form.getInputProps('email')}
      />
      <PasswordInput
        label={t('settings.confirm')}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t('settings.show') }}
        {...form.getInputProps('password')}
      />
      {codeId !== null && <CodeInput label={t('settings.emailCode')} autoFocus {...form.getInputProps('email_code')} />}
      {failure.alert}
      <div className="row">
        <Button type="submit" loading={send.isPending || change.isPending}>
          {codeId === null ? t('settings.emailSend') : t('settings.emailChange')}
        </Button>
        <Button variant="default" onClick={onDone}>
          {t('settings.cancel')}
        </Button>
      </div>
    </form>
  )
}
