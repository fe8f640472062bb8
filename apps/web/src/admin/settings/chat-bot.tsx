import type { ChatBotStatus } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Moment } from '../../kit/time.tsx'
import classes from './settings.module.css'

/** Milliseconds. A worker records the state, and the change feed does not report it. */
const EVERY = 5000

/** Whether the chat bot is connected; if not, why and when it retries. */
export function ChatBotState() {
  const t = useT()
  const { data } = useQuery({ ...read(settings.chatBot), refetchInterval: EVERY })
  if (!data) return null
  return (
    <section className={`card ${classes.tests}`} aria-label={t('webSettings.chatBot.title')}>
      <div className={classes.test}>
        <strong>{t('webSettings.chatBot.title')}</strong>
        <State bot={data} />
      </div>
      {data.problem && (
        <p className={classes.error}>
          {t(`webSettings.chatBot.problem.${data.problem}`)} {data.detail && <span className="dim">{data.detail}</span>}
        </p>
      )}
      {data.commands_problem !== null && (
        <p className="dim">{t('webSettings.chatBot.commands', { detail: data.commands_problem })}</p>
      )}
      {data.unreadable_channels.length > 0 && (
        <p className={classes.error}>
          {t('webSettings.chatBot.unreadable', { channels: data.unreadable_channels.join(', ') })}
        </p>
      )}
    </section>
  )
}

function State({ bot: { state, name, since, retry_at } }: { bot: ChatBotStatus }) {
  const t = useT()
  const at = state === 'waiting' ? retry_at : state === 'connected' ? since : null
  return (
    <p role="status" data-ok={state === 'connected' || state === 'off' || state === 'connecting'}>
      {t(`webSettings.chatBot.${state}`, { name: name ?? '' })}
      {at && (
        <span className="dim">
          {' · '}
          {t(state === 'waiting' ? 'webSettings.chatBot.retry' : 'webSettings.chatBot.since')} <Moment at={at} />
        </span>
      )}
    </p>
  )
}
