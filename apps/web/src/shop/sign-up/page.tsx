import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { formMessage, rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { SignUpBody } from '../../kit/schemas.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { SendCode } from '../send-code.tsx'

export default function SignUpPage() {
  const t = useT()
  const navigate = useNavigate()
  const [query] = useSearchParams()
  const [refusals, setRefusals] = useState(0)
  useTitle(t('signUp.create'))
  const form = useForm({
    initialValues: {
      username: '',
      email: '',
      email_code: '',
      email_code_id: '',
      password: '',
      repassword: '',
      invite_code: query.get('invite_code') ?? '',
      discord_id: query.get('discord_id') ?? ''
    },
    validate: rules(SignUpBody),
    validateInputOnBlur: true
  })
  const signUp = useMutation({
    mutationFn: () => call(accounts.signUp, { body: { ...form.values, language: currentLanguage() } }),
    onSuccess: user => {
      notify('good', t('signUp.created'))
      setSessionUser(user)
      void navigate('/product', { replace: true })
    },
    onError: error => {
      form.setErrors(fieldTexts(error))
      setRefusals(refusals + 1)
      notify('bad', failureText(error))
    }
  })
  // Only shown: whose account it is proves the cookie of the way back.
  const chatName = query.get('discord_id') ? (query.get('discord_name') ?? '').slice(0, 64) : ''
  const { invite_code: _, discord_id: __, email_code_id: ___, ...required } = form.values
  const incomplete = Object.values(required).some(value => !value.trim())
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('login.show') } }
  return (
    <AuthCard title={t('signUp.title')}>
      <form
        className="stack"
        noValidate
        onSubmit={form.onSubmit(
          () => signUp.mutate(),
          errors => {
            const words = incomplete ? t('signUp.incomplete') : (errors['email_code_id'] as string | undefined)
            if (words) notify('bad', words)
          }
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
          resetKey={refusals}
          onSent={id => form.setFieldValue('email_code_id', id)}
          onRefused={errors => form.setErrors(errors)}
          {...form.getInputProps('email_code')}
        />
        <PasswordInput
          label={t('login.password')}
          description={formMessage('password_rule')}
          autoComplete="new-password"
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
        <Button type="submit" fullWidth loading={signUp.isPending}>
          {t('signUp.submit')}
        </Button>
        <Button component={Link} to="/login" variant="subtle" fullWidth>
          {t('signUp.login')}
        </Button>
      </form>
    </AuthCard>
  )
}
