import type { PlannedAction, Server, ServerEditPlan, ServerPlan, StockChange } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import type { Key } from '../../i18n/admin.ts'
import { numberText } from '../../kit/money.ts'
import { risky, toTell, type Question, type T } from '../kit/index.ts'

/** The number of groups in a question, and of rules per group. */
const GROUPS = 4
const RULES = 2
/** The number of orders or ranges named. */
const NAMES = 8

/** The first names of `count`, and how many more there are. */
function named(t: T, names: readonly string[], count = names.length): string {
  const shown = names.slice(0, NAMES)
  if (count > shown.length) shown.push(t('plan.moreOrders', { count: numberText(count - shown.length) }))
  return shown.join(', ')
}

/** How free addresses change: one line per group and family, the greatest losses first. */
export function stockLines(t: T, stock: readonly StockChange[]): string[] {
  if (stock.length === 0) return [t('plan.stockSame')]
  const groups = [...Map.groupBy(stock, ({ group, family }) => `${group.id}.${family}`).values()]
  const lines = groups.slice(0, GROUPS).map(changes => {
    const sorted = changes.toSorted((a, b) => a.after - a.before - (b.after - b.before))
    const rules = sorted
      .slice(0, RULES)
      .map(({ rule, before, after }) => `${rule.name} ${numberText(before)} → ${numberText(after)}`)
    if (sorted.length > RULES) rules.push(t('plan.moreRules', { count: sorted.length - RULES }))
    return t(changes[0]?.family === 'ipv6' ? 'plan.stockIpv6' : 'plan.stock', {
      group: changes[0]?.group.name ?? '',
      rules: rules.join(', ')
    })
  })
  return groups.length > GROUPS ? [...lines, t('plan.moreGroups', { count: groups.length - GROUPS })] : lines
}

/** What an action would do now, in figures. */
function planLines(t: T, action: PlannedAction, plan: ServerPlan): string[] {
  const { orders, addresses, undelivered, unpaid, moves, stays, staying, reservations } = plan
  const counts = (side: { orders: number; addresses: number }) => ({
    orders: numberText(side.orders),
    addresses: numberText(side.addresses)
  })
  const lines = [
    orders === 0
      ? t('plan.noOrders')
      : t('plan.holds', {
          orders: numberText(orders),
          addresses: numberText(addresses),
          undelivered: numberText(undelivered)
        })
  ]
  if (moves.orders > 0) lines.push(t('plan.moves', counts(moves)))
  if (stays.orders > 0) {
    const orderIds = staying.map(({ order_id }) => order_id)
    const names = named(t, orderIds, stays.orders)
    lines.push(
      t(action === 'give_up' ? 'plan.lose' : action === 'move' ? 'plan.stay' : 'plan.wait', { ...counts(stays), names })
    )
  }
  if (unpaid > 0) lines.push(t('plan.unpaid', { count: numberText(unpaid) }))
  if (reservations.moves.orders > 0) lines.push(t('plan.unpaidMoves', counts(reservations.moves)))
  if (reservations.stays.orders > 0)
    lines.push(t(action === 'give_up' ? 'plan.unpaidEnds' : 'plan.unpaidStays', counts(reservations.stays)))
  return action === 'move' ? lines : [...lines, ...stockLines(t, plan.stock)]
}

type Options = { title: Key; body: Key; to?: Record<string, unknown> }

/** The question before an action, with the server's current plan. */
export async function planQuestion(
  t: T,
  server: Server,
  action: PlannedAction,
  { title, body, to = {} }: Options
): Promise<Question> {
  const plan = await call(fleet.plan, { params: { id: server.id }, query: { action, ...to } })
  const lines = [t(body, { name: server.name }), '', ...planLines(t, action, plan)]
  const question = { title: t(title, { name: server.name }), body: lines.join('\n'), danger: true }
  // Pausing and deleting move no orders.
  if (action === 'pause' || action === 'delete') return question
  const sure = risky(question, plan.orders)
  // The form of a move asks for the words itself.
  return action === 'move' || plan.orders === 0 ? sure : toTell(t, sure, 'many')
}

/** Lists show the new port at once; the agent uses it after the next installation. */
const portLines = (t: T, { from, to, orders, installs }: NonNullable<ServerEditPlan['proxy_port']>): string[] => [
  t('plan.proxyPort', { from: String(from), to: String(to), orders: numberText(orders) }),
  t(installs ? 'plan.portInstalls' : 'plan.portInstall', { from: String(from) })
]

/** The question before a server's form is saved; undefined if ranges, agent address and proxy port stay the same. */
export async function editQuestion(t: T, server: Server, sent: Record<string, unknown>): Promise<Question | undefined> {
  const body = sent as Parameters<typeof call<typeof fleet.planEdit>>[1]['body']
  const {
    added,
    removed,
    agent,
    proxy_port: port,
    stock
  } = await call(fleet.planEdit, { params: { id: server.id }, body })
  if (added.length + removed.length === 0 && !agent && !port) return undefined
  const lines = [
    ...(added.length > 0 ? [t('plan.rangesAdded', { ranges: named(t, added) })] : []),
    ...(removed.length > 0 ? [t('plan.rangesRemoved', { ranges: named(t, removed) })] : []),
    ...(agent ? [t('plan.otherAgent')] : []),
    ...(port ? portLines(t, port) : []),
    ...stockLines(t, stock)
  ]
  const danger = removed.length > 0 || port !== null
  const question = { title: t('plan.saveTitle', { name: server.name }), body: lines.join('\n'), danger }
  return port ? risky(question, port.orders) : question
}
