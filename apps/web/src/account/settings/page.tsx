import '../../kit/styles/forms.ts'
import '../../kit/styles/overlays.ts'
import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { IconBell, IconReceipt } from '@tabler/icons-react'
import { useEffect, useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { reloadSession, useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/number.ts'
import { useAddress } from '../../kit/use-address.ts'
import { ApiKeys } from './api-keys.tsx'
import { Mails } from './mails.tsx'
import { ChatAccount } from './chat-account.tsx'
import { EmailForm } from './email-form.tsx'
import { OwnData } from './own-data.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondFactors } from './second-factor/second-factors.tsx'
import { Sessions } from './sessions.tsx'
import { Webhooks } from './webhooks.tsx'
import classes from './settings.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

export default function SettingsPage() {
  const t = useT()
  const { user } = useSession()
  const [changing, setChanging] = useState(false)
  const change = useFocusAfterReplace(changing)
  useBindNotice()
  if (!user) return null
  const isOperator = user.is_superuser
  const security = (
    <Part title={t('factors.title')}>
      <SecondFactors user={user} />
    </Part>
  )
  return (
    <div className="start" style={{ ...gridStyle('24rem', '1rem', 'auto-fit'), maxWidth: '62rem' }}>
      <header className="card row unwrapped" style={{ gap: '1rem', gridColumn: '1 / -1', padding: '1.25rem' }}>
        <span className={classes.avatar} aria-hidden>
          {user.username.slice(0, 2).toUpperCase()}
        </span>
        <div className="shrinks" style={{ overflowWrap: 'break-word' }}>
          <h2 className="size-title">{user.username}</h2>
          <p className="dim">
            {isOperator ? (
              user.email
            ) : (
              <span className="num">{t('settings.points', { points: numberText(user.points) })}</span>
            )}
            {user.discord_name && ` · ${user.discord_name}`}
          </p>
        </div>
      </header>
      {user.must_add_second_factor ? (
        security
      ) : (
        <>
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
              {changing ? (
                <EmailForm onDone={() => setChanging(false)} />
              ) : (
                <Button ref={change} variant="default" onClick={() => setChanging(true)}>
                  {t('settings.emailChange')}
                </Button>
              )}
            </Part>
            <Part title={t('settings.chat')}>
              <ChatAccount user={user} />
            </Part>
            {isOperator ? <Notices /> : <Mailed />}
            {/* Last in its column, so that loading sessions push nothing down. */}
            <Part title={t('sessions.title')}>
              <Sessions />
            </Part>
          </div>
          <div className="stack">
            <Part title={t('settings.password')}>
              <PasswordForm chatName={user.discord_name} owner={user} />
            </Part>
            {security}
            {!isOperator && <Programs />}
            <Part title={t('data.title')}>
              <OwnData canDelete={!isOperator} />
            </Part>
          </div>
        </>
      )}
    </div>
  )
}

/** The mails and payments of a customer. */
function Mailed() {
  const t = useT()
  return (
    <>
      <Part title={t('mails.title')}>
        <Mails />
      </Part>
      <Part title={t('settings.billing')}>
        <p className="dim">{t('settings.billingHint')}</p>
        <Button
          component={Link}
          to={pageAt('Proxies')}
          variant="default"
          leftSection={<IconReceipt size={18} aria-hidden />}
        >
          {t('settings.billingOpen')}
        </Button>
        <Link to={pageAt('receipts')}>{t('settings.receipts')}</Link>
      </Part>
    </>
  )
}

/** Operators set their notices in the console. */
function Notices() {
  const t = useT()
  return (
    <Part title={t('settings.notices')}>
      <p className="dim">{t('settings.noticesHint')}</p>
      <Button
        component={Link}
        to={pageAt('notices')}
        variant="default"
        leftSection={<IconBell size={18} aria-hidden />}
      >
        {t('settings.noticesOpen')}
      </Button>
    </Part>
  )
}

/** A customer's programs: keys and webhooks. */
function Programs() {
  const t = useT()
  return (
    <>
      <Part title={t('keys.title')}>
        <ApiKeys />
      </Part>
      <Part title={t('hooks.title')}>
        <Webhooks />
      </Part>
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={`card stack ${classes.part}`} style={{ gap: '0.9rem', padding: '1.25rem' }} aria-label={title}>
      <h2 className="size-title">{title}</h2>
      {children}
    </section>
  )
}

/** Shows the result of the chat platform's redirect once and removes its parameters. */
function useBindNotice() {
  const t = useT()
  const { query, change } = useAddress()
  const outcome = query.get('discord')
  const reason = query.get('reason')
  useEffect(() => {
    if (!outcome) return
    if (outcome === 'success') {
      notify('good', t('settings.bound', { name: (query.get('name') ?? '').slice(0, 64) }))
      void reloadSession()
    } else if (reason === 'taken') notify('bad', t('settings.chatTaken'))
    else if (reason === 'refused') notify('bad', t('settings.chatRefused'))
    else if (reason === 'unavailable') notify('bad', t('settings.chatAway'))
    else notify('bad', t('settings.bindFailed'))
    change({ discord: null, reason: null, name: null })
  }, [outcome, reason, query, change, t])
}
