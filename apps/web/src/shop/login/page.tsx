import { Button, Tabs } from '@mantine/core'
import { IconBrandDiscord, IconLock } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { safePath } from '../../kit/return-path.ts'
import { setSessionUser } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { ForgotForm } from './forgot-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { ResetForm } from './reset-form.tsx'

type Mode = { name: 'login' } | { name: 'forgot' } | { name: 'reset'; email: string; verifyId: string }

/** Ends whatever session there is. Nothing to end is as good. */
const resetSession = () => call(accounts.logout).catch(() => null)

export default function LoginPage() {
  const t = useT()
  const [mode, setMode] = useState<Mode>({ name: 'login' })
  const [query] = useSearchParams()
  const navigate = useNavigate()
  const reset = useRef<Promise<unknown> | null>(null)
  const title = mode.name === 'login' ? t('login.title') : t('login.forgotTitle')
  useTitle(title)

  useEffect(() => {
    reset.current ??= resetSession().then(() => setSessionUser(null))
  }, [])

  // The chat platform sends the browser back here when it refuses.
  const refusal = query.get('discord')
  const reason = refusal && query.get('reason')
  useEffect(() => {
    if (refusal === 'banned') notify('bad', t('login.banned'))
    else if (reason === 'refused') notify('bad', t('login.chatRefused'))
    else if (reason === 'unavailable') notify('bad', t('login.chatAway'))
    else if (refusal) notify('bad', t('login.chatFailed'))
  }, [refusal, reason, t])

  if (mode.name === 'forgot')
    return (
      <AuthCard title={title}>
        <ForgotForm
          onBack={() => setMode({ name: 'login' })}
          onVerified={(email, verifyId) => setMode({ name: 'reset', email, verifyId })}
        />
      </AuthCard>
    )
  if (mode.name === 'reset')
    return (
      <AuthCard title={title}>
        <ResetForm email={mode.email} verifyId={mode.verifyId} onDone={() => setMode({ name: 'login' })} />
      </AuthCard>
    )
  return (
    <AuthCard title={title}>
      <Tabs defaultValue="password" keepMounted={false}>
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
            before={() => reset.current ?? Promise.resolve()}
            onDone={user => {
              setSessionUser(user)
              void navigate(safePath(query.get('return')) ?? '/product', { replace: true })
            }}
            onForgot={() => {
              void resetSession().then(() => setSessionUser(null))
              setMode({ name: 'forgot' })
            }}
          />
        </Tabs.Panel>
        <Tabs.Panel value="chat">
          <ChatLogin />
        </Tabs.Panel>
      </Tabs>
      <p style={{ marginTop: '1.5rem' }}>
        <span className="dim">{t('login.noAccount')}</span> <Link to="/createAccount">{t('login.create')}</Link>
      </p>
    </AuthCard>
  )
}

function ChatLogin() {
  const t = useT()
  const go = useMutation({
    mutationFn: () => call(accounts.discordLogin, { query: { mode: 'login' } }),
    onSuccess: ({ discord_auth_url }) => {
      if (discord_auth_url) window.location.assign(discord_auth_url)
      else notify('bad', t('login.chatUnavailable'))
    },
    onError: error => notify('bad', failureText(error, t('login.chatUnavailable')))
  })
  return (
    <div className="stack">
      <p className="dim">{t('login.chatHint')}</p>
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
