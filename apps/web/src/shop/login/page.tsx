import { Button, Tabs, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { CurrentUser } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconBrandDiscord, IconLock } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation, useNavigate, useSearchParams } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { type Key, t as word, useT } from '../../i18n/index.ts'
import { useT as useStepT } from '../../i18n/login.ts'
import { CaptchaField, useCaptcha } from '../../kit/captcha-field.tsx'
import { FormAlert, useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { hasPasskeys } from '../../kit/passkeys.ts'
import { PasswordInput } from '../../kit/new-password-input.tsx'
import { safePath, withReturn } from '../../kit/return-path.ts'
import { LoginBody } from '../../kit/schemas.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { useResetSession } from '../send-code.tsx'
import { PasskeyLogin, SecondStep, type Step, stepInHash, stepOf } from './second-step.tsx'

export default function LoginPage() {
  const t = useT()
  const [query] = useSearchParams()
  const navigate = useNavigate()
  const sessionIsReset = useResetSession()
  const after = query.get('return')
  const { hash, pathname, search } = useLocation()
  const [step, setStep] = useState(() => stepInHash(hash))
  // The ticket does not stay in the browser's history.
  useEffect(() => {
    if (hash) void navigate(pathname + search, { replace: true })
  }, [hash, navigate, pathname, search])
  const stepT = useStepT()
  const title = step ? stepT('login.stepTitle') : t('login.title')
  useTitle(title)
  const enter = (user: CurrentUser) => {
    setSessionUser(user)
    void navigate(safePath(after) ?? pageAt('product'), { replace: true })
  }

  // After a refusal the chat platform redirects back here. Show the tab the login started from.
  const refusal = refusalIn(query)

  if (step)
    return (
      <AuthCard title={title}>
        <SecondStep step={step} onDone={enter} onBack={() => setStep(null)} />
      </AuthCard>
    )
  return (
    <AuthCard title={title}>
      {/* Keep both tabs mounted, so that typed values survive a switch. */}
      <Tabs defaultValue={refusal ? 'chat' : 'password'} keepMounted>
        <Tabs.List grow mb="lg">
          <Tabs.Tab value="password" leftSection={<IconLock size={16} aria-hidden />}>
            {t('login.password')}
          </Tabs.Tab>
          <Tabs.Tab value="chat" leftSection={<IconBrandDiscord size={17} aria-hidden />}>
            Discord
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="password">
          <PasswordForm
            before={sessionIsReset}
            onDone={enter}
            onAsked={setStep}
            forgotPath={withReturn(pageAt('forgot'), after)}
          />
        </Tabs.Panel>
        <Tabs.Panel value="chat">
          <ChatLogin refusal={refusal} />
        </Tabs.Panel>
      </Tabs>
      {hasPasskeys() && <PasskeyLogin before={sessionIsReset} onDone={enter} />}
      <p style={{ marginTop: '1.5rem' }}>
        <span className="dim">{t('login.noAccount')}</span>{' '}
        <Link to={withReturn(pageAt('createAccount'), after)}>{t('login.create')}</Link>
      </p>
    </AuthCard>
  )
}

/** The failure of a chat login, from the address. */
function refusalIn(query: URLSearchParams): Key | null {
  const outcome = query.get('discord')
  if (!outcome) return null
  if (outcome === 'banned') return 'login.banned'
  const reason = query.get('reason')
  if (reason === 'refused') return 'login.chatRefused'
  return reason === 'unavailable' ? 'login.chatAway' : 'login.chatFailed'
}

function ChatLogin({ refusal }: { refusal: Key | null }) {
  const t = useT()
  const [said, setSaid] = useState(() => refusal && { at: 0, words: () => word(refusal) })
  const say = (words: () => string) => setSaid(before => ({ at: (before?.at ?? 0) + 1, words }))
  const go = useMutation({
    mutationFn: () => call(accounts.discordLogin, { query: { mode: 'login' } }),
    onSuccess: ({ discord_auth_url }) => {
      if (discord_auth_url) window.location.assign(discord_auth_url)
      else say(() => word('login.chatUnavailable'))
    },
    onError: error => say(() => failureText(error, word('login.chatUnavailable')))
  })
  return (
    <div className="stack">
      <p className="dim">{t('login.chatHint')}</p>
      {said && <FormAlert key={said.at} words={said.words} takesFocus />}
      <Button
        fullWidth
        loading={go.isPending}
        leftSection={<IconBrandDiscord size={19} aria-hidden />}
        onClick={() => go.mutate()}
      >
        {t('login.chat')}
      </Button>
    </div>
  )
}

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

function PasswordForm({ before, onDone, onAsked, forgotPath }: Props) {
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
