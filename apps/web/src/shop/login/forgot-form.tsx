import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { formMessage } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { SendCode } from '../send-code.tsx'

type Props = { onBack: () => void; onVerified: (email: string, verifyId: string) => void }

export function ForgotForm({ onBack, onVerified }: Props) {
  const t = useT()
  const [codeId, setCodeId] = useState('')
  const form = useForm({ initialValues: { email: '', code: '' } })
  const next = useMutation({
    mutationFn: () =>
      call(accounts.forgotVerify, {
        body: { email: form.values.email, email_code: form.values.code, email_code_id: codeId }
      }),
    onSuccess: ({ verify_id }) => onVerified(form.values.email, verify_id),
    onError: error => {
      form.setErrors(fieldTexts(error))
      notify('bad', failureText(error))
    }
  })
  const submit = ({ email, code }: typeof form.values) => {
    if (email.trim() && code.trim() && codeId) next.mutate()
    else notify('bad', formMessage('enter_email_or_code'))
  }
  return (
    <form className="stack" noValidate onSubmit={form.onSubmit(submit)}>
      <TextInput label={t('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
      <SendCode
        email={form.values.email}
        type="forgot"
        onSent={setCodeId}
        onRefused={errors => form.setErrors(errors)}
        label={t('code')}
        {...form.getInputProps('code')}
      />
      <Button type="submit" loading={next.isPending}>
        {t('login.next')}
      </Button>
      <Button variant="subtle" onClick={onBack}>
        {t('login.back')}
      </Button>
    </form>
  )
}
