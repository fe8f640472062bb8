import { Button, Tabs } from '@mantine/core'
import { IconBrandDiscord, IconLock } from '@tabler/icons-react'
import { useEffect } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { safePath, withReturn } from '../../kit/return-path.ts'
import { setSessionUser } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { useResetSession } from '../reset-session.ts'
import { PasswordForm } from './password-form.tsx'

export default function LoginPage() {
  const t = useT()
  const [query] = useSearchParams()
  const navigate = useNavigate()
  const sessionIsReset = useResetSession()
  const after = query.get('return')
  useTitle(t('login.title'))

  // The chat platform sends the browser back here when it refuses.
  const refusal = query.get('discord')
  const reason = refusal && query.get('reason')
  useEffect(() => {
    if (refusal === 'banned') notify('bad', t('login.banned'))
    else if (reason === 'refused') notify('bad', t('login.chatRefused'))
    else if (reason === 'unavailable') notify('bad', t('login.chatAway'))
    else if (refusal) notify('bad', t('login.chatFailed'))
  }, [refusal, reason, t])

  return (
    <AuthCard title={t('login.title')}>
      {/* Both stay: what was typed in one is there after a look at the other. */}
      <Tabs defaultValue="password" keepMounted>
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
            onDone={user => {
              setSessionUser(user)
              void navigate(safePath(after) ?? '/product', { replace: true })
            }}
            forgotPath={withReturn('/forgot', after)}
          />
        </Tabs.Panel>
        <Tabs.Panel value="chat">
          <ChatLogin />
        </Tabs.Panel>
      </Tabs>
      <p style={{ marginTop: '1.5rem' }}>
        <span className="dim">{t('login.noAccount')}</span>{' '}
        <Link to={withReturn('/createAccount', after)}>{t('login.create')}</Link>
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
