import { Button, Checkbox, Skeleton } from '@mantine/core'
import type { Confirmation, CurrentUser, MailChoices } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconBell, IconBrandDiscord, IconDownload, IconReceipt } from '@tabler/icons-react'
import { onlineManager, useQuery } from '@tanstack/react-query'
import { lazy, type MouseEvent, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { queryClient, read } from '../../api/query.ts'
import { accounts, mail } from '../../api/routes.ts'
import { endSession, reloadSession, useSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { passFocus, useFocusAfterReplace } from '../../kit/focus-return.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import { leaveForGood } from '../../kit/return-path.ts'
import { ErrorState } from '../../kit/states.tsx'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { ownEndpoints } from '../../kit/webhooks/calls.ts'
import { Endpoints, useEndpoints } from '../../kit/webhooks/endpoints.tsx'
import { DeliveryLog, NO_LOG } from '../../kit/webhooks/log.tsx'
import { ApiKeys } from './api-keys.tsx'
import { ConfirmForm } from './confirm-form.tsx'
import { EmailForm, PasswordForm } from './password-form.tsx'
import { SecondFactors } from './second-factor/second-factors.tsx'
import { Sessions } from './sessions.tsx'
import classes from './settings.module.css'
import '../../kit/styles/forms.ts'
import '../../kit/styles/overlays.ts'

/** Its words are the console's. */
const ApiTokens = lazy(() => import('./api-tokens.tsx'))

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
            {isOperator ? <Tokens /> : <Programs />}
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

/** An operator's programs. */
function Tokens() {
  const t = useT()
  return (
    <Part title={t('tokens.title')}>
      <Suspense fallback={<Skeleton height={120} />}>
        <ApiTokens />
      </Suspense>
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

/** The customer's webhook endpoints. The address names the endpoint whose log is open. */
export function Webhooks() {
  const t = useT()
  const { user } = useSession()
  const { query, change } = useAddress()
  const { data } = useEndpoints(ownEndpoints)
  const shown = numberIn(query, 'endpoint')
  const log = data?.find(({ id }) => id === shown)
  const showLog = (id: number | null) => change({ ...NO_LOG, endpoint: id }, { push: true })
  // Endpoints outlast an administrator's visit as the customer, so such a visit cannot change them.
  const canChange = !user?.impersonated_by
  return (
    <>
      <p className="dim">
        {t('hooks.hint')} <Link to={`${pageAt('apiReference')}#webhooks`}>{t('keys.docs')}</Link>
      </p>
      <Endpoints calls={ownEndpoints} canChange={canChange} onLog={({ id }) => showLog(id)} />
      {log && (
        <Dialog size="xl" onClose={() => showLog(null)} title={t('hooks.logOf', { url: log.description || log.url })}>
          <DeliveryLog endpointId={log.id} canResend={canChange} />
        </Dialog>
      )}
    </>
  )
}

const KINDS = ['payments', 'proxies', 'expiry'] as const satisfies (keyof MailChoices)[]

const choicesOf = ({ payments, proxies, expiry }: MailChoices): MailChoices => ({ payments, proxies, expiry })

/** A customer's mail settings. Each change is saved at once. */
export function Mails() {
  const t = useT()
  const choices = read(mail.choices)
  const { data, error, refetch } = useQuery(choices)
  const save = useMutation({
    mutationFn: (body: MailChoices) => call(mail.saveChoices, { body }),
    onSuccess: saved => {
      queryClient.setQueryData(choices.queryKey, before => before && { ...before, ...saved })
      notify('good', t('mails.saved'))
    },
    onError: failure => notify('bad', failureText(failure, t('mails.failed')))
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <>
      {data?.blocked && <p role="alert">{t(`mails.blocked.${data.blocked}`)}</p>}
      <p className="dim">{t('mails.hint')}</p>
      {KINDS.map(kind => (
        <Checkbox
          key={kind}
          label={t(`mails.${kind}`)}
          checked={data?.[kind] ?? true}
          disabled={!data || save.isPending}
          onChange={event => data && save.mutate({ ...choicesOf(data), [kind]: event.currentTarget.checked })}
        />
      ))}
    </>
  )
}

/** The browser alone would report the failed download, if at all. */
function warnIfOffline(event: MouseEvent): void {
  if (onlineManager.isOnline()) return
  event.preventDefault()
  notify('bad', failureText(new ApiError('network', '')))
}

/** Downloads the user's data and deletes the account. Administrators cannot delete theirs. */
function OwnData({ canDelete }: { canDelete: boolean }) {
  const t = useT()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const [asked, setAsked] = useState(false)
  const ask = useFocusAfterReplace(asked)
  const remove = async (confirmation: Confirmation) => {
    await endSession(
      () => call(accounts.deleteAccount, { body: confirmation }),
      () => {
        // The guard may render once more before the other page does.
        leaveForGood(pathname + search, pageAt('home'))
        return navigate(pageAt('home'))
      }
    )
    notify('good', t('data.deleted'))
  }
  return (
    <>
      <p className="dim">{t('data.hint')}</p>
      <Button
        component="a"
        href={accounts.dataExport.path}
        download
        onClick={warnIfOffline}
        variant="default"
        leftSection={<IconDownload size={18} aria-hidden />}
      >
        {t('data.download')}
      </Button>
      {canDelete && <p className="dim">{t('data.deleteHint')}</p>}
      {asked ? (
        <ConfirmForm danger label={t('data.delete')} onConfirm={remove} onCancel={() => setAsked(false)} />
      ) : (
        canDelete && (
          <Button ref={ask} variant="default" onClick={() => setAsked(true)}>
            {t('data.delete')}
          </Button>
        )
      )}
    </>
  )
}

/** Connects or disconnects a Discord account, with the password or a second factor. */
function ChatAccount({ user }: { user: CurrentUser }) {
  const t = useT()
  const [asked, setAsked] = useState<'bind' | 'unbind' | null>(null)
  const ask = useFocusAfterReplace(asked === 'bind')
  const takeOff = useFocusAfterReplace(asked === 'unbind')
  const close = () => setAsked(null)
  const bind = async (confirmation: Confirmation) => {
    const { discord_auth_url } = await call(accounts.bindDiscord, { body: confirmation })
    if (discord_auth_url) window.location.assign(discord_auth_url)
    else notify('bad', t('settings.chatUnavailable'))
  }
  const unbind = async (confirmation: Confirmation) => {
    await call(accounts.unbindDiscord, { body: confirmation })
    notify('good', t('settings.chatDone'))
    close()
    await reloadSession()
    // The Disconnect button disappears with the account.
    if (document.activeElement === takeOff.current || document.activeElement === document.body) passFocus(ask.current)
  }
  const bound = Boolean(user.discord_id)
  return (
    <>
      <p className="dim">
        {user.discord_name ? t('settings.chatBound', { name: user.discord_name }) : t('settings.chatHint')}
      </p>
      {asked ? (
        <ConfirmForm
          key={asked}
          label={asked === 'bind' ? t('settings.chatGo') : t('settings.chatOff')}
          onConfirm={asked === 'bind' ? bind : unbind}
          onCancel={close}
        />
      ) : (
        <div className="row">
          <Button
            ref={ask}
            variant="default"
            leftSection={<IconBrandDiscord size={18} aria-hidden />}
            onClick={() => setAsked('bind')}
          >
            {bound ? t('settings.chatAgain') : t('settings.chatConnect')}
          </Button>
          {bound && (
            <Button ref={takeOff} variant="default" onClick={() => setAsked('unbind')}>
              {t('settings.chatOff')}
            </Button>
          )}
        </div>
      )}
    </>
  )
}
