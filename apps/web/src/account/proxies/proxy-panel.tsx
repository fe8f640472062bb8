import { Button, Skeleton, Textarea } from '@mantine/core'
import { useElementSize, useMediaQuery } from '@mantine/hooks'
import type { Order, Proxy } from '@netlet/contract'
import { NOTE_LENGTH } from '@netlet/contract/limits'
import { IconNote } from '@tabler/icons-react'
import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/proxies.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { passFocus } from '../../kit/focus-return.ts'
import { hostPort } from '../../kit/host-port.ts'
import { money, numberText } from '../../kit/money.ts'
import { OrderCredits } from '../../kit/order-credits.tsx'
import { isMoving, OrderStateBadge } from '../../kit/order-state.tsx'
import type { Pending } from '../../kit/payment/pending.ts'
import { useSkipTarget } from '../../kit/skip-links.ts'
import { ErrorState } from '../../kit/states.tsx'
import { TablePages, useShownPlace } from '../../kit/table-pages.tsx'
import { TemplateField } from './format-picker.tsx'
import type { FormatChoice } from './formats.ts'
import { LivePanel } from './live-panel.tsx'
import classes from './panel.module.css'
import { OrderActions, useOrderTasks } from './proxy-actions.tsx'
import { ProxyBar } from './proxy-bar.tsx'
import { ProxyFilters } from './proxy-filters.tsx'
import { NoProxies } from './proxy-states.tsx'
import { ProxyCards, ProxyTable } from './proxy-table.tsx'
import { useReveal } from './proxy-cells.tsx'
import tableClasses from './table.module.css'
import { useCopyAndExport } from './use-copy-and-export.ts'
import { useOrderWords } from './order-columns.tsx'
import { isFiltered, type ProxyList, SIZES, useProxyList } from './use-proxy-list.ts'
import '../../kit/styles/tables.ts'
import '../../kit/styles/forms.ts'

/** A shell command that requests the address of a session. */
const sessionSnippet = ({ ip, port, username, password }: Proxy): string =>
  `curl -x 'http://${hostPort(ip, port)}' -U '${username}-session-abc:${password}' https://example.com`

/** Explains an order's IPv6 addresses and how its connections leave. Nothing for IPv4. */
function ExitNote({ order, proxy }: { order: Order; proxy: Proxy | undefined }) {
  const t = useT()
  if (order.address_family === 'ipv4') return null
  if (order.address_family === 'any') return <p className="dim">{t('proxy.ipv6.any')}</p>
  const snippet = order.egress === 'session' && proxy ? sessionSnippet(proxy) : null
  return (
    <div className="stack" style={{ gap: '0.5rem' }}>
      <p className="dim">
        {t('proxy.ipv6')} {t(`proxy.ipv6.${order.egress}`)}
      </p>
      {snippet !== null && (
        <p className="row" style={{ gap: '0.5rem' }}>
          <code className="breaks shrinks">{snippet}</code>
          <CopyButton text={snippet} name={t('proxy.ipv6.command')} />
        </p>
      )}
    </div>
  )
}

type Props = {
  order: Order | undefined
  loading: boolean
  format: readonly [FormatChoice, (choice: FormatChoice) => void]
  /** It was just paid. */
  live: boolean
  onDismiss: () => void
  onPay: (pending: Pending) => void
}

const NOBODY: ReadonlyMap<number, Proxy> = new Map()

export function ProxyPanel({ order, loading, format: [kept, choose], live, onDismiss, onPay }: Props) {
  const t = useT()
  const names = useNames()
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const list = useProxyList(order)
  const now = list.order
  const tasks = useOrderTasks(now)
  const secure = (list.rows ?? []).some(({ https }) => https?.leads)
  // The remembered format may not apply to this order: `https` needs proxies that speak TLS.
  const choice = useMemo(
    () => (kept.format === 'https' && !secure ? { ...kept, format: 'line' as const } : kept),
    [kept, secure]
  )
  const takeOut = useCopyAndExport(now, choice)
  const reveal = useReveal()
  const [picked, setPicked] = useState(NOBODY)
  // The selected proxies are replaced by others.
  const isChanging = now?.task === 'change'
  useEffect(() => {
    if (isChanging) setPicked(NOBODY)
  }, [isChanging])
  const onPick = useCallback(
    (proxies: Proxy[], add: boolean) =>
      setPicked(before => {
        const next = new Map(before)
        for (const proxy of proxies)
          if (add) next.set(proxy.id, proxy)
          else next.delete(proxy.id)
        return next
      }),
    []
  )
  const first = list.rows?.[0]
  const heading = useRef<HTMLHeadingElement>(null)
  const field = useRef<HTMLInputElement>(null)
  // The table's header stays below the bar, whose height varies.
  const { ref: bar, height } = useElementSize()
  const isListed = Boolean(now) && (list.pending || Boolean(list.rows?.length) || isFiltered(list.filters))
  return (
    <section className="stack" aria-label={t('proxy.title')}>
      <div className="row between" style={{ gap: '0.75rem 1.5rem' }}>
        <div className={`row baseline breaks shrinks ${classes.which}`} style={{ gap: '0.25rem 1rem' }}>
          <h2 ref={heading} tabIndex={-1} className="size-title">
            {t('proxy.title')}
          </h2>
          {now && (
            <span className="dim">
              {now.label ? (
                <strong>
                  <bdi>{now.label}</bdi>,{' '}
                </strong>
              ) : null}
              {names.order(now).product_name}, <span className="mono">{now.order_id}</span>
            </span>
          )}
          {now && isMoving(now) && now.task !== 'check' && <OrderStateBadge order={now} />}
        </div>
        <OrderActions order={now} loading={loading} tasks={tasks} />
      </div>
      {tasks.refusal !== null && (
        <p role="alert" className="problem">
          {tasks.refusal}
        </p>
      )}
      {live && now && (
        <LivePanel
          order={now}
          first={first}
          takeOut={takeOut}
          onDismiss={() => {
            passFocus(heading.current)
            onDismiss()
          }}
        />
      )}
      {now && now.pay_status === 1 && <OrderCredits orderId={now.id} />}
      {now && isPaid(now) && <Paid order={now} />}
      {now && <ExitNote order={now} proxy={first} />}
      {now && <OrderNote order={now} />}
      <div className={`card ${tableClasses.root}`} style={{ '--bar': `${height}px` } as object}>
        <div ref={bar} className={tableClasses.bar}>
          <ProxyBar
            order={now}
            loading={loading}
            first={first}
            picked={picked}
            list={list}
            onUnpick={() => setPicked(NOBODY)}
            choice={choice}
            secure={secure}
            onChoose={choose}
            takeOut={takeOut}
            tasks={tasks}
            reveal={reveal}
          />
        </div>
        <TemplateField choice={choice} onChoose={choose} first={first} />
        {now?.task === 'check' && <CheckProgress order={now} />}
        {isListed && <ProxyFilters list={list} narrow={narrow} field={field} />}
        <Body
          list={list}
          narrow={narrow}
          loading={loading}
          onClear={() => {
            passFocus(field.current)
            list.clear()
          }}
          {...{ reveal, choice, picked, onPick, onPay }}
        />
      </div>
    </section>
  )
}

/** A payment bought a term. */
const isPaid = ({ pay_amount, state }: Order) => pay_amount !== null && state !== 'failed' && state !== 'refunded'

/** The total paid for an order, and the price of its current term if that is less. */
function Paid({ order: { pay_amount, last_amount } }: { order: Order }) {
  const t = useT()
  return (
    <p className="dim num row stretch" style={{ gap: '0 1.5rem' }}>
      <span>{t('proxy.paid', { amount: money(pay_amount ?? '0.00') })}</span>
      {last_amount !== pay_amount && <span>{t('proxy.paidTerm', { amount: money(last_amount) })}</span>}
    </p>
  )
}

function CheckProgress({ order }: { order: Order }) {
  const t = useT()
  const tAccount = useAccountT()
  const { task_done: done, delivery_num: total } = order
  return (
    <p className={`row unwrapped num ${classes.progress}`} style={{ padding: '0.75rem 0.9rem 0' }} role="status">
      <progress value={done ?? undefined} max={total} aria-hidden />
      {done === null
        ? tAccount(order.task_waits ? 'task.waits' : 'task.check')
        : t('proxy.checked', { done: numberText(done), total: numberText(total) })}
    </p>
  )
}

type BodyProps = { list: ProxyList; narrow: boolean; loading: boolean; onClear: () => void } & Pick<Props, 'onPay'> &
  Pick<Parameters<typeof ProxyTable>[0], 'reveal' | 'choice' | 'picked' | 'onPick'>

function Body({ list, narrow, loading, onClear, onPay, ...table }: BodyProps) {
  const t = useT()
  const tAccount = useAccountT()
  const id = useId()
  useSkipTarget(id, tAccount('skip.proxies'))
  const top = useRef<HTMLDivElement>(null)
  const { order, rows, total, pending, stale, error, malformed, retry, paging } = list
  const shown = useShownPlace(paging, total, stale)
  const beyond = !rows?.length && (stale || (paging.page > 1 && Boolean(total)))
  const Rows = narrow ? ProxyCards : ProxyTable
  let body
  if (error && !rows)
    body = (
      <ErrorState
        error={error}
        fallback={malformed ? t('proxy.malformed') : t('proxy.detailsFailed')}
        onRetry={retry}
      />
    )
  else if (loading || pending || beyond)
    body = (
      <div className={tableClasses.loading} role="status" aria-label={t('proxy.title')}>
        {Array.from({ length: 8 }, (_, index) => (
          <Skeleton key={index} height={narrow ? 84 : 24} />
        ))}
      </div>
    )
  else if (!rows?.length)
    body = <NoProxies order={order} onClear={isFiltered(list.filters) ? onClear : undefined} onPay={onPay} />
  else body = <Rows rows={rows} stale={stale} sort={list.sort} onSort={list.setSort} {...table} />
  return (
    <div ref={top} id={id} className={tableClasses.body} data-stale={stale || undefined}>
      {body}
      {shown && <TablePages paging={paging} shown={shown} hidden={!rows} table={top} sizes={SIZES} />}
    </div>
  )
}

export function OrderNote({ order }: { order: Order }) {
  const t = useT()
  const { text, change, open, takesFocus, close, button, form, isSaving } = useOrderWords(order, 'note')
  if (text === null)
    return (
      <div className={`row baseline ${classes.note}`} style={{ gap: '0.25rem 0.5rem' }}>
        {order.note && <p dir="auto">{order.note}</p>}
        <Button
          ref={button}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconNote size={15} aria-hidden />}
          onClick={open}
        >
          {t(order.note ? 'note.edit' : 'note.add')}
        </Button>
      </div>
    )
  return (
    <form className="stack" style={{ gap: '0.6rem', maxWidth: '40rem' }} {...form}>
      <Textarea
        label={t('note.title')}
        description={t('note.hint', { max: NOTE_LENGTH })}
        maxLength={NOTE_LENGTH}
        rows={3}
        value={text}
        autoFocus={takesFocus}
        onChange={event => change(event.currentTarget.value)}
      />
      <div className="row">
        <Button type="submit" size="sm" loading={isSaving}>
          {t('save')}
        </Button>
        <Button size="sm" variant="subtle" color="gray" onClick={close}>
          {t('cancel')}
        </Button>
      </div>
    </form>
  )
}
