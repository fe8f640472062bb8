import { pageAt } from '@netlet/contract/pages'
import { Button, Tabs } from '@mantine/core'
import type { CurrentUser } from '@netlet/contract'
import { IconBrandDiscord, IconLock } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Link, useLocation, useNavigate, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { safePath, withReturn } from '../../kit/return-path.ts'
import { setSessionUser } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { t as word, useT, type Key } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT as useStepT } from '../../i18n/login.ts'
import { FormAlert } from '../../kit/form-failure.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { useResetSession } from '../reset-session.ts'
import { hasPasskeys } from '../../kit/passkeys.ts'
import { PasskeyLogin } from './passkey-login.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondStep, stepInHash } from './second-step.tsx'

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
