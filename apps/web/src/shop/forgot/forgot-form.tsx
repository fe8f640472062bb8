import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { ForgotVerifyBody } from '../../kit/schemas.ts'
import { SendCode, type MailedCode } from '../send-code.tsx'

type Props = { backTo: string; onVerified: (proof: { email: string; verifyId: string }) => void }

const KEPT = { email: '', code_id: '', code_until: 0 }

export function ForgotForm({ backTo, onVerified }: Props) {
  const t = useT()
  const draft = useDraft('forgot', KEPT)
  const kept = { ...KEPT, ...draft.kept }
  const [mailed, setMailed] = useState<MailedCode>({ id: kept.code_id, until: kept.code_until })
  const form = useForm({
    initialValues: { email: kept.email, email_code: '' },
    validate: values => {
      const { email, ...code } = rules(ForgotVerifyBody)({ ...values, email_code_id: mailed.id })
      // The call's message concerns both fields, so show it for the whole form.
      const noCode = Object.keys(code).length > 0
      return { ...(email ? { email } : {}), ...(noCode ? { email_code: formMessage('enter_email_code') } : {}) }
    }
  })
  const { email } = form.values
  useKeptDraft(draft, { entered: { email, code_id: mailed.id, code_until: mailed.until } })
  const failure = useFormFailure(form, { email_code_id: 'email_code' })
  const next = useMutation({
    mutationFn: (values: typeof form.values) =>
      call(accounts.forgotVerify, { body: { ...values, email_code_id: mailed.id } }),
    onSuccess: ({ verify_id }, values) => {
      draft.forget()
      onVerified({ email: values.email, verifyId: verify_id })
    },
    onError: failure.refused
  })
  const incomplete = !mailed.id || Object.values(form.values).some(value => !value.trim())
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => next.mutate(values),
        errors => failure.invalid(errors, incomplete ? () => formMessage('enter_email_or_code') : undefined)
      )}
    >
      <TextInput label={t('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
      <SendCode
        email={email}
        type="forgot"
        mailed={mailed}
        onSent={sent => {
          setMailed(sent)
          form.clearFieldError('email_code')
        }}
        onRefused={failure.atFields}
        label={t('code')}
        {...form.getInputProps('email_code')}
      />
      {failure.alert}
      <Button type="submit" loading={next.isPending}>
        {t('login.next')}
      </Button>
      <Button component={Link} to={backTo} variant="subtle">
        {t('login.back')}
      </Button>
    </form>
  )
}
