import '../../kit/styles/forms.ts'
import { Button } from '@mantine/core'
import { IconBrandDiscord, IconReceipt } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, type ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession, useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { ApiKeys } from './api-keys.tsx'
import { Mails } from './mails.tsx'
import { PasswordForm } from './password-form.tsx'
import classes from './settings.module.css'

export default function SettingsPage() {
  const t = useT()
  const { user } = useSession()
  useBindNotice()
  if (!user) return null
  return (
    <div className={classes.page}>
      <header className={`card ${classes.profile}`}>
        <span className={classes.avatar} aria-hidden>
          {user.username.slice(0, 2).toUpperCase()}
        </span>
        <div>
          <h2>{user.username}</h2>
          <p className="dim">
            <span className="num">{t('settings.points', { points: user.points.toLocaleString('en-US') })}</span>
            {user.discord_name && ` · ${user.discord_name}`}
          </p>
        </div>
      </header>
      <div className="stack">
        <Part title={t('settings.account')}>
          <dl className={classes.facts}>
            <div>
              <dt>{t('settings.username')}</dt>
              <dd>{user.username}</dd>
            </div>
            <div>
              <dt>{t('settings.email')}</dt>
              <dd>{user.email}</dd>
            </div>
          </dl>
        </Part>
        <Part title={t('settings.chat')}>
          <p className="dim">
            {user.discord_name ? t('settings.chatBound', { name: user.discord_name }) : t('settings.chatHint')}
          </p>
          <ConnectChat bound={Boolean(user.discord_id)} />
        </Part>
        <Part title={t('mails.title')}>
          <Mails />
        </Part>
        <Part title={t('settings.billing')}>
          <p className="dim">{t('settings.billingHint')}</p>
          <Button
            component={Link}
            to="/dashboard/index/proxies"
            variant="default"
            leftSection={<IconReceipt size={18} aria-hidden />}
          >
            {t('settings.billingOpen')}
          </Button>
        </Part>
      </div>
      <div className="stack">
        <Part title={t('settings.password')}>
          <PasswordForm />
        </Part>
        <Part title={t('keys.title')}>
          <ApiKeys />
        </Part>
      </div>
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={`card ${classes.part}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function ConnectChat({ bound }: { bound: boolean }) {
  const t = useT()
  const connect = useMutation({
    mutationFn: () => call(accounts.discordLogin, { query: { mode: 'bind' } }),
    onSuccess: ({ discord_auth_url }) => {
      if (discord_auth_url) window.location.assign(discord_auth_url)
      else notify('bad', t('settings.chatUnavailable'))
    },
    onError: error => notify('bad', failureText(error, t('settings.chatUnavailable')))
  })
  return (
    <Button
      variant="default"
      leftSection={<IconBrandDiscord size={18} aria-hidden />}
      loading={connect.isPending}
      onClick={() => connect.mutate()}
    >
      {bound ? t('settings.chatAgain') : t('settings.chatConnect')}
    </Button>
  )
}

/** The chat platform sends the browser back with flags in the address: they are told once and taken away. */
function useBindNotice() {
  const t = useT()
  const [query, setQuery] = useSearchParams()
  const outcome = query.get('discord')
  useEffect(() => {
    if (!outcome) return
    if (outcome === 'success') {
      notify('good', t('settings.bound', { name: (query.get('name') ?? '').slice(0, 64) }))
      void reloadSession()
    } else if (query.get('reason') === 'taken') notify('bad', t('settings.chatTaken'))
    else notify('bad', t('settings.bindFailed'))
    setQuery({}, { replace: true })
  }, [outcome, query, setQuery, t])
}
