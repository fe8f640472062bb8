import type { CurrentUser } from '@netlet/contract'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { CaptchaField, useCaptcha } from '../../kit/captcha-field.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { LoginBody } from '../../kit/schemas.ts'
import { stepOf, type Step } from './second-step.tsx'

type Props = {
  /** Resolves when the former session has ended, because a login before that would be ended with it. */
  before: () => Promise<unknown>
  onDone: (user: CurrentUser) => void
  /** The account has a second factor. */
  onAsked: (step: Step) => void
  forgotPath: string
}

/** The captcha field has its own message. */
const check = rules(LoginBody.omit({ captcha: true }))

const wantsCaptcha = (error: unknown) =>
  error instanceof ApiError && (error.data as { require_captcha?: boolean } | null)?.require_captcha === true

export function PasswordForm({ before, onDone, onAsked, forgotPath }: Props) {
  const t = useT()
  const [needsCaptcha, setNeedsCaptcha] = useState(false)
  const captcha = useCaptcha(needsCaptcha)
  const answer = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (needsCaptcha) answer.current?.focus()
  }, [needsCaptcha])
  const form = useForm({
    initialValues: { username: '', password: '', captcha: '' },
    validate: values => ({
      ...check(values),
      ...(needsCaptcha && !values.captcha.trim() ? { captcha: formMessage('enter_captcha') } : {})
    })
  })
  const failure = useFormFailure(form, { captcha_id: 'captcha' })
  const login = useMutation({
    mutationFn: async ({ username, password, captcha: result }: typeof form.values) => {
      await before()
      const proof = needsCaptcha ? { captcha_id: captcha.id, captcha: result } : {}
      return call(accounts.login, { body: { username, password, ...proof } })
    },
    onSuccess: onDone,
    onError: error => {
      const step = stepOf(error)
      if (step) return onAsked(step)
      if (needsCaptcha) captcha.renew()
      if (wantsCaptcha(error)) setNeedsCaptcha(true)
      form.setFieldValue('captcha', '')
      failure.refused(error)
    }
  })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => login.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      <TextInput label={t('login.username')} autoComplete="username" {...form.getInputProps('username')} />
      <PasswordInput
        label={t('login.password')}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t('login.show') }}
        {...form.getInputProps('password')}
      />
      {needsCaptcha && <CaptchaField captcha={captcha} ref={answer} {...form.getInputProps('captcha')} />}
      {failure.alert}
      <Button type="submit" fullWidth loading={login.isPending}>
        {t('nav.login')}
      </Button>
      <Button component={Link} to={forgotPath} variant="subtle">
        {t('login.forgot')}
      </Button>
    </form>
  )
}
