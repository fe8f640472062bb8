import type { Confirmation, OwnSession } from '@netlet/contract'
import { deviceIn } from '@netlet/contract/device-words'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { useLanguage } from '../../i18n/language.ts'
import { CountryName } from '../../kit/country.tsx'
import { passFocus, useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import classes from './api-keys.module.css'
import { ConfirmForm } from './confirm-form.tsx'

/** Sessions shown at first; the current one comes first. */
const FEW = 5
/** The most that a reply contains; there may be more. */
const MOST = 100

/** The account's sessions. Each other one, or all others, can be ended with the password or a second factor. */
export function Sessions() {
  const t = useT()
  const part = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const [all, setAll] = useState(false)
  const { data, isPending, error, refetch } = useQuery(read(accounts.sessions))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (isPending) return <Skeleton height={160} />
  /** The form disappears with its session, and the focus with it. */
  const keepFocus = () => {
    const { activeElement: active } = document
    if (!active || active === document.body || part.current?.contains(active)) passFocus(list.current)
  }
  const others = data.filter(session => !session.is_current).length
  return (
    <div ref={part} className="stack">
      <ul ref={list} className={classes.list} aria-label={t('sessions.title')}>
        {(all ? data : data.slice(0, FEW)).map(session => (
          <Session key={session.id} session={session} onEnded={keepFocus} />
        ))}
      </ul>
      {data.length > FEW && (
        <Button size="sm" variant="subtle" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('sessions.fewer') : t('sessions.all', { count: data.length })}
        </Button>
      )}
      {others > 1 && <EndOthers count={others} isAll={data.length < MOST} onEnded={keepFocus} />}
    </div>
  )
}

type OthersProps = { count: number; isAll: boolean; onEnded: () => void }

function EndOthers({ count, isAll, onEnded }: OthersProps) {
  const t = useT()
  const [asked, setAsked] = useState(false)
  const ask = useFocusAfterReplace(asked)
  const end = async (confirmation: Confirmation) => {
    const { ended } = await call(accounts.endOtherSessions, { body: confirmation })
    notify('good', t('sessions.othersEnded', { count: ended }))
    await refresh(accounts.sessions)
    onEnded()
  }
  if (!asked)
    return (
      <Button ref={ask} size="sm" variant="default" onClick={() => setAsked(true)}>
        {t('sessions.endOthers')}
      </Button>
    )
  return (
    <div className="stack">
      <p role="status">{t(isAll ? 'sessions.othersBody' : 'sessions.othersMany', { count })}</p>
      <ConfirmForm label={t('sessions.endOthers')} danger onConfirm={end} onCancel={() => setAsked(false)} />
    </div>
  )
}

function Session({ session, onEnded }: { session: OwnSession; onEnded: () => void }) {
  const t = useT()
  const language = useLanguage()
  const [asked, setAsked] = useState(false)
  const ask = useFocusAfterReplace(asked)
  const device = session.device === null ? t('sessions.unknown') : deviceIn(language, session.device)
  const end = async (confirmation: Confirmation) => {
    await call(accounts.endSession, { params: { id: session.id }, body: confirmation })
    await refresh(accounts.sessions)
    onEnded()
  }
  return (
    <li>
      <div className={classes.facts}>
        <strong>{device}</strong>
        <span>
          {session.location ? <CountryName country={session.location} /> : t('sessions.noPlace')}
          {session.ip && <span className="mono"> · {session.ip}</span>}
        </span>
        <span>{session.is_current ? t('sessions.current') : <Ago at={session.last_seen_at} />}</span>
      </div>
      {!session.is_current && !asked && (
        <Button
          ref={ask}
          size="xs"
          variant="default"
          aria-label={`${t('sessions.end')}: ${device}`}
          onClick={() => setAsked(true)}
        >
          {t('sessions.end')}
        </Button>
      )}
      {asked && <ConfirmForm label={t('sessions.end')} onConfirm={end} onCancel={() => setAsked(false)} />}
    </li>
  )
}
