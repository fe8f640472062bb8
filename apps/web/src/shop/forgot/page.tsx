import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { pageAt } from '@netlet/contract/pages'
import { useState } from 'react'
import { Link, useLocation, useNavigate, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { rememberSentence } from '../../i18n/failures.ts'
import { t as word, useT } from '../../i18n/index.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { NewPasswordInput, PasswordInput } from '../../kit/new-password-input.tsx'
import { notify } from '../../kit/notify.ts'
import { ForgotBody, ForgotVerifyBody } from '../../kit/schemas.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { type MailedCode, SendCode, useResetSession } from '../send-code.tsx'

type Proof = { email: string; verifyId: string }

/** The history state survives a reload and is not shared with other tabs. */
const proofIn = (state: unknown): Proof | undefined => {
  const { email, verifyId } = (state ?? {}) as Partial<Record<string, unknown>>
  return typeof email === 'string' && typeof verifyId === 'string' ? { email, verifyId } : undefined
}

/** The link of a mail has the proof in the part of the address that no server sees. */
const proofInHash = (hash: string): Proof | undefined => {
  const said = new URLSearchParams(hash.slice(1))
  return proofIn({ email: said.get('email'), verifyId: said.get('verify_id') })
}

/** Resets a forgotten password: first a mailed code, then, with its proof (`?step=reset`), the new password. */
export default function ForgotPage() {
  const t = useT()
  const navigate = useNavigate()
  const { state, hash } = useLocation()
  const [query] = useSearchParams()
  useTitle(t('login.forgotTitle'))
  useResetSession()
  const after = query.get('return')
  const way: Record<string, string> = after ? { return: after } : {}
  const at = (pathname: string, more: Record<string, string> = {}) =>
    `${pathname}?${new URLSearchParams({ ...way, ...more })}`.replace(/\?$/, '')
  const proof = query.get('step') === 'reset' ? (proofIn(state) ?? proofInHash(hash)) : undefined
  return (
    <AuthCard title={t('login.forgotTitle')}>
      {proof ? (
        <ResetForm
          {...proof}
          onDone={() => void navigate(at(pageAt('login')), { replace: true })}
          onBack={() => void navigate(at(pageAt('forgot')), { replace: true })}
        />
      ) : (
        <ForgotForm
          backTo={at(pageAt('login'))}
          onVerified={given => void navigate(at(pageAt('forgot'), { step: 'reset' }), { state: given })}
        />
      )}
    </AuthCard>
  )
}

type Props = { backTo: string; onVerified: (proof: { email: string; verifyId: string }) => void }

const KEPT = { email: '', code_id: '', code_until: 0 }

function ForgotForm({ backTo, onVerified }: Props) {
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

type ResetFormProps = { email: string; verifyId: string; onDone: () => void; onBack: () => void }

function ResetForm({ email, verifyId, onDone, onBack }: ResetFormProps) {
  const t = useT()
  const form = useForm({
    initialValues: { password: '', again: '' },
    validate: values => ({
      ...rules(ForgotBody.pick({ password: true }))(values),
      ...(values.again ? {} : { again: formMessage('enter_your_password') }),
      ...(values.again && values.again !== values.password
        ? { again: rememberSentence(t('login.inconsistent'), () => word('login.inconsistent')) }
        : {})
    })
  })
  const failure = useFormFailure(form)
  const save = useMutation({
    mutationFn: () => call(accounts.forgot, { body: { email, password: form.values.password, verify_id: verifyId } }),
    onSuccess: () => {
      notify('good', t('successfully'))
      onDone()
    },
    onError: failure.refused
  })
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('login.show') } }
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        () => save.mutate(),
        errors => failure.invalid(errors)
      )}
    >
      <NewPasswordInput label={t('login.newPassword')} owner={{ email }} {...eye} {...form.getInputProps('password')} />
      <PasswordInput label={t('signUp.again')} autoComplete="new-password" {...eye} {...form.getInputProps('again')} />
      {failure.alert}
      <Button type="submit" loading={save.isPending}>
        {t('confirm')}
      </Button>
      <Button variant="subtle" onClick={onBack}>
        {t('login.otherCode')}
      </Button>
    </form>
  )
}
