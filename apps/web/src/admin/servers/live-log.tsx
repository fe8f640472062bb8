import { Button, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { numberText } from '../../kit/number.ts'
import { UnavailableHint } from '../kit/index.ts'
import classes from './servers.module.css'

/** Milliseconds between polls, and the largest number of lines shown. */
const EVERY = 2000
const SHOWN = 500

type Filter = { user: string; address: string; http_status: string }
type Shown = { lines: string[]; missed: number; problem: string }
const NOTHING: Shown = { lines: [], missed: 0, problem: '' }

/** A server's access log, live from the moment it is requested until the screen closes. */
export function LiveLog({ serverId }: { serverId: number }) {
  const t = useT()
  const [filter, setFilter] = useState<Filter>({ user: '', address: '', http_status: '' })
  const [following, setFollowing] = useState<Filter | null>(null)
  const shown = useLog(serverId, following)
  const field = (name: keyof Filter) => (
    <TextInput
      label={t(`live.filter.${name}`)}
      size="sm"
      value={filter[name]}
      onChange={event => setFilter({ ...filter, [name]: event.currentTarget.value })}
    />
  )
  return (
    <section className="stack" aria-label={t('live.log')}>
      <h4>{t('live.log')}</h4>
      <form
        className="row"
        style={{ flexWrap: 'wrap', alignItems: 'flex-end' }}
        onSubmit={event => {
          event.preventDefault()
          setFollowing({ ...filter, http_status: filter.http_status.replace(/\D/g, '').slice(0, 3) })
        }}
      >
        {field('user')}
        {field('address')}
        {field('http_status')}
        <Button type="submit" size="sm">
          {t('live.follow')}
        </Button>
        <UnavailableHint why={following === null ? t('live.notFollowing') : undefined}>
          <Button size="sm" variant="default" onClick={() => setFollowing(null)}>
            {t('live.stop')}
          </Button>
        </UnavailableHint>
      </form>
      {shown.problem !== '' && <p role="alert">{shown.problem}</p>}
      {shown.missed > 0 && <p className="dim">{t('live.missed', { count: numberText(shown.missed) })}</p>}
      {(following !== null || shown.lines.length > 0) && (
        <pre className={classes.output} tabIndex={0} aria-label={t('live.log')}>
          {shown.lines.join('\n') || t('live.waiting')}
        </pre>
      )}
    </section>
  )
}

/** Polls for new lines, one request at a time. Stopping keeps the shown lines. */
function useLog(serverId: number, filter: Filter | null): Shown {
  const [shown, setShown] = useState(NOTHING)
  useEffect(() => {
    if (filter === null) return undefined
    setShown(NOTHING)
    let over = false
    let after = 0
    let timer: ReturnType<typeof setTimeout>
    const look = async () => {
      try {
        const { lines, next, missed } = await call(fleet.followLog, {
          params: { id: serverId },
          query: { ...filter, after_line: after }
        })
        if (over) return
        after = next
        setShown(before => ({
          lines: [...before.lines, ...lines].slice(-SHOWN),
          missed: before.missed + missed,
          problem: ''
        }))
      } catch (error) {
        if (!over) setShown(before => ({ ...before, problem: failureText(error) }))
      }
      if (!over) timer = setTimeout(() => void look(), EVERY)
    }
    void look()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [serverId, filter])
  return shown
}
