import { Skeleton } from '@mantine/core'
import type { Order, TimelineEntry } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { keyOf } from '../../api/query.ts'
import { mail, orders, payments } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import accountEn from '../../i18n/account.en.json'
import { useT as useAccountT } from '../../i18n/account.ts'
import en from '../../i18n/admin.en.json'
import { type Key, useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import type { Translate } from '../../i18n/words.ts'
import { withMoney } from '../../kit/money.ts'
import { failureKey } from '../../kit/order-obstacles.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Moment, momentText } from '../../kit/time.tsx'
import { WorkButton, useCommand } from '../kit/index.ts'
import classes from './orders.module.css'

/** Milliseconds between polls while a task runs on the order. */
const WATCH = 5000
const PAGE = 50

/** An order's events, newest first; `latest` limits their number. */
export function Timeline({ order, latest }: { order: Order; latest?: number }) {
  const t = useT()
  const watch = usePollInterval(WATCH)
  const limit = latest ?? PAGE
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: keyOf(orders.timeline, { params: { id: order.id }, limit }),
    queryFn: ({ pageParam, signal }) =>
      call(
        orders.timeline,
        { params: { id: order.id }, query: { limit, ...(pageParam && { earlier: pageParam }) } },
        { signal }
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    refetchInterval: isMoving(order) ? watch : false
  })
  const entries = data?.pages.flatMap(page => page.data)
  return (
    <section aria-label={t('orders.history')}>
      <h3 className="size-lead" style={{ marginBottom: '0.4rem' }}>
        {t('orders.history')}
      </h3>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton height={160} role="status" aria-label={t('orders.history')} />}
      {entries?.length === 0 && <p className="dim">{t('orders.noHistory')}</p>}
      <ol className={`size-body ${classes.timeline}`}>
        {entries?.map(entry => (
          <Entry key={`${entry.source} ${entry.id}`} entry={entry} />
        ))}
      </ol>
      {latest === undefined && hasNextPage && (
        <WorkButton
          variant="default"
          size="compact-sm"
          working={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
          mt="xs"
        >
          {t('orders.earlier')}
        </WorkButton>
      )}
    </section>
  )
}

const FAILED = new Set(['fail', 'task_failed', 'payment_held', 'delivery_refused', 'delivery_waits'])
const isBad = ({ source, kind, detail }: TimelineEntry) =>
  (source === 'order' && FAILED.has(kind)) ||
  (source === 'mail' && detail['state'] === 'failed') ||
  (source === 'proof' && kind.endsWith('.failed'))

function Entry({ entry }: { entry: TimelineEntry }) {
  const t = useT()
  const accountT = useAccountT()
  const language = useLanguage()
  const { mayCall } = useMay()
  const { source, actor, viewed_as } = entry
  const title = titleOf(t, entry)
  const detail = detailOf({ t, accountT, language }, entry)
  return (
    <li data-source={source} data-bad={isBad(entry) || undefined}>
      <div className="row stretch" style={{ gap: '0 0.5rem' }}>
        {source === 'platform' && mayCall(payments.inbox) ? (
          <Link to={`${pageAt('payments')}?open=${entry.id}`}>{title}</Link>
        ) : (
          <strong className="strong">{title}</strong>
        )}
        {actor && (
          <span className="dim">
            {viewed_as ? t('orders.byAs', { name: actor, user: viewed_as }) : t('orders.by', { name: actor })}
          </span>
        )}
      </div>
      {detail && <div className="breaks">{detail}</div>}
      <div className="dim size-label">
        <Moment at={entry.at} ago />
      </div>
      {entry.can_resend && mayCall(mail.sendAgain) && <Resend entry={entry} />}
    </li>
  )
}

function Resend({ entry }: { entry: TimelineEntry }) {
  const t = useT()
  const again = useCommand(mail.sendAgain, {
    confirm: { title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to: String(entry.detail['to']) }) },
    success: t('mails.sentAgain'),
    invalidate: [orders.timeline, mail.mails]
  })
  return (
    <WorkButton
      variant="default"
      size="compact-sm"
      working={again.running}
      onClick={() => void again.run({ params: { id: entry.id } })}
    >
      {t('mails.sendAgain')}
    </WorkButton>
  )
}

type Said = { t: Translate<typeof en>; accountT: Translate<typeof accountEn>; language: string }

/** The word for a key. An unknown name from a newer server stays as it is. */
const word = (t: Said['t'], prefix: string, name: string): string => {
  const key = `${prefix}.${name}`
  return key in en ? t(key as Key) : name
}

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

function titleOf(t: Said['t'], { source, kind, detail }: TimelineEntry): string {
  if (source === 'order') return word(t, 'orders.event', kind)
  if (source === 'mail') return t('orders.mailed', { mail: word(t, 'mails.name', kind) })
  if (source === 'admin') return word(t, 'orders.did', kind)
  if (source === 'proof') return word(t, 'proofs.told', kind)
  return word(t, 'orders.told', textOf(detail['topic']))
}

/** The reason and other details. */
function detailOf(said: Said, { source, kind, detail }: TimelineEntry): string {
  if (source === 'mail') return mailText(said.t, detail)
  if (source === 'platform') return platformText(said.t, kind, detail)
  if (source === 'proof') return proofText(said.t, detail)
  return source === 'order' ? detailText(said, detail) : ''
}

/** What ended or began, the proxy's answer, and where. */
function proofText(t: Said['t'], { server, cause, answer, address, seen, took }: TimelineEntry['detail']): string {
  const from = textOf(seen) && seen !== address ? t('proofs.seenFrom', { address: textOf(seen) }) : ''
  const ms = took === undefined ? '' : `${textOf(took)} ms`
  const what = cause === 'served' ? '' : word(t, 'proofs.cause', textOf(cause))
  const said = answer === undefined ? '' : word(t, 'proofs.answer', textOf(answer))
  return [what, said, textOf(address), from, ms, textOf(server)].filter(Boolean).join(', ')
}

function mailText(t: Said['t'], detail: TimelineEntry['detail']): string {
  const { state, to, error, error_code: code } = detail
  const why = code ? word(t, 'mails.why', textOf(code)) : textOf(error)
  return [word(t, 'mails.is', textOf(state)), textOf(to), why].filter(Boolean).join(', ')
}

/** The outcome of the platform's event. If it needed attention: why, and how it was resolved. */
function platformText(t: Said['t'], outcome: string, detail: TimelineEntry['detail']): string {
  const { topic: _topic, platform_order, resolution, note, resolved_by, ...params } = detail
  const state = textOf(params['state'])
  const values = Object.fromEntries(
    Object.entries(withMoney({ ...params, platform_order, ...(state && { state: word(t, 'orders.is', state) }) })).map(
      ([name, value]) => [name, textOf(value)]
    )
  )
  const why = `payments.why.${outcome}`
  const came = outcome === 'waiting' ? t('orders.waits') : word(t, 'payments.is', outcome)
  const ended = resolution
    ? t('payments.resolvedBy', {
        resolution: word(t, 'payments.by', textOf(resolution)),
        by: textOf(resolved_by),
        note: textOf(note) || '–'
      })
    : ''
  const told = [textOf(platform_order), came].filter(Boolean).join(', ')
  // Full sentences follow.
  return [told, why in en ? t(why as Key, values) : '', ended].filter(Boolean).join(' · ')
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** 'paid → delivering, amount: 10.77': the change of state, the reason, then other details. */
function detailText({ t, accountT, language }: Said, detail: TimelineEntry['detail']): string {
  const { from, to, code, seconds, working, of, batch: _batch, ...more } = detail
  const say = (value: unknown): string => {
    const text = textOf(value)
    if (`orders.is.${text}` in en) return t(`orders.is.${text}` as Key)
    return INSTANT.test(text) ? momentText(text, language) : text
  }
  // Minutes are redundant if days are known.
  const minutes = seconds && !more['days'] ? { minutes: Math.ceil(Number(seconds) / 60) } : {}
  const values = Object.fromEntries(
    Object.entries(withMoney({ ...more, ...minutes })).map(([name, value]) => {
      const prefix = { task: 'orders', cause: 'orders.cause', reason: 'orders.reason' }[name]
      return [name, prefix && `${prefix}.${textOf(value)}` in en ? word(t, prefix, textOf(value)) : say(value)]
    })
  )
  const known = typeof code === 'string' ? failureKey(code, values) : undefined
  const rest = Object.entries(values)
    .filter(([name, value]) => value && !(known && accountEn[known].includes(`{${name}}`)))
    .map(([name, value]) => `${word(t, 'orders.detail', name)}: ${value}`)
  const change = to === undefined ? '' : `${from ? say(from) : '–'} → ${say(to)}`
  const progress = of === undefined ? '' : t('orders.workingOf', { working: textOf(working), of: textOf(of) })
  return [change, known ? accountT(known, values) : say(code), ...rest, progress].filter(Boolean).join(', ')
}
