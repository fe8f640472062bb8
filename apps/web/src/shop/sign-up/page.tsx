import { pageAt } from '@netlet/contract/pages'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type MouseEvent, useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { t as word, useT } from '../../i18n/index.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { NewPasswordInput, PasswordInput } from '../../kit/new-password-input.tsx'
import { safePath, withReturn } from '../../kit/return-path.ts'
import { SignUpBody } from '../../kit/schemas.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { type MailedCode, SendCode } from '../send-code.tsx'

/** What survives a reload, because the user may open the mail in the same tab. */
const KEPT = { username: '', email: '', email_code: '', invite_code: '', code_id: '', code_until: 0 }
const OPTIONAL = ['invite_code', 'discord_id']

/** Keeps the focus on a press: an error shown on blur would move the button away before the click ends. */
function keepFocus(event: MouseEvent): void {
  if (event.target instanceof Element && event.target.closest('button, a')) event.preventDefault()
}

export default function SignUpPage() {
  const t = useT()
  const navigate = useNavigate()
  const [query] = useSearchParams()
  const draft = useDraft('sign-up', KEPT)
  const kept = { ...KEPT, ...draft.kept }
  const [mailed, setMailed] = useState<MailedCode>({ id: kept.code_id, until: kept.code_until })
  const after = query.get('return')
  useTitle(t('signUp.create'))
  const form = useForm({
    initialValues: {
      // Defaults from the chat platform's redirect.
      username: kept.username || (query.get('username') ?? '').slice(0, 10),
      email: kept.email,
      email_code: kept.email_code,
      password: '',
      repassword: '',
      invite_code: query.get('invite_code') ?? kept.invite_code,
      discord_id: query.get('discord_id') ?? ''
    },
    validate: values => {
      const { email_code_id: noCode, ...errors } = rules(SignUpBody)({ ...values, email_code_id: mailed.id })
      return noCode ? { email_code: noCode, ...errors } : errors
    },
    // Keep the server's error on blur until the field changes.
    enhanceGetInputProps: ({ field, form: { errors, validateField } }) => ({
      onBlur: () => void (errors[field] ?? validateField(field))
    })
  })
  const failure = useFormFailure(form, { email_code_id: 'email_code' })
  const { username, email, email_code, invite_code } = form.values
  useKeptDraft(draft, {
    entered: { username, email, email_code, invite_code, code_id: mailed.id, code_until: mailed.until }
  })
  const signUp = useMutation({
    mutationFn: () =>
      call(accounts.signUp, { body: { ...form.values, email_code_id: mailed.id, language: currentLanguage() } }),
    onSuccess: user => {
      draft.forget()
      notify('good', t('signUp.created'))
      setSessionUser(user)
      void navigate(safePath(after) ?? pageAt('product'), { replace: true })
    },
    onError: error => {
      // Allow another code at once.
      setMailed({ ...mailed, until: 0 })
      failure.refused(error)
    }
  })
  // For display only. The cookie from the redirect proves whose account it is.
  const chatName = query.get('discord_id') ? (query.get('discord_name') ?? '').slice(0, 64) : ''
  const incomplete = Object.entries(form.values).some(([name, value]) => !OPTIONAL.includes(name) && !value.trim())
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('login.show') } }
  return (
    <AuthCard title={t('signUp.title')}>
      <form
        className="stack"
        noValidate
        onChange={failure.onChange}
        onMouseDown={keepFocus}
        onSubmit={form.onSubmit(
          () => signUp.mutate(),
          errors => failure.invalid(errors, incomplete ? () => word('signUp.incomplete') : undefined)
        )}
      >
        {chatName && (
          <p className="dim" role="status">
            {t('signUp.chat', { name: chatName })}
          </p>
        )}
        <TextInput label={t('signUp.username')} autoComplete="username" {...form.getInputProps('username')} />
        <TextInput label={t('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
        <SendCode
          label={t('code')}
          email={form.values.email}
          type="register"
          mailed={mailed}
          onSent={sent => {
            setMailed(sent)
            form.clearFieldError('email_code')
          }}
          onRefused={failure.atFields}
          {...form.getInputProps('email_code')}
        />
        <NewPasswordInput
          label={t('login.password')}
          owner={{ username, email }}
          {...eye}
          {...form.getInputProps('password')}
        />
        <PasswordInput
          label={t('signUp.again')}
          autoComplete="new-password"
          {...eye}
          {...form.getInputProps('repassword')}
        />
        <TextInput label={t('signUp.invite')} autoComplete="off" {...form.getInputProps('invite_code')} />
        {failure.alert}
        <Button type="submit" fullWidth loading={signUp.isPending}>
          {t('signUp.submit')}
        </Button>
        <Button component={Link} to={withReturn(pageAt('login'), after)} variant="subtle" fullWidth>
          {t('signUp.login')}
        </Button>
      </form>
    </AuthCard>
  )
}
