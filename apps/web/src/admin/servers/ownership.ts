import type { RepairPlan, Server } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import { risky, type T, type Tools } from '../kit/index.ts'

/** The number of names of each kind in the question. The drawer lists all that are stored. */
const NAMES = 12

/** A plan by kind, with the names it contains. */
export function partsOf(t: T, plan: RepairPlan): { title: string; names: string[]; more: number }[] {
  const part = (key: 'Removed' | 'Changed' | 'Added' | 'Ranges', count: number, names: string[]) => ({
    title: t(`servers.plan${key}`, { count: numberText(count) }),
    names,
    more: count - names.length
  })
  const parts = [
    part('Removed', plan.removed.count, plan.removed.users),
    part('Changed', plan.changed.count, plan.changed.users),
    part('Ranges', plan.ranges.count, plan.ranges.ranges),
    part('Added', plan.added.count, plan.added.users)
  ]
  return parts.filter(({ names }) => names.length > 0)
}

function linesOf(t: T, plan: RepairPlan): string[] {
  return partsOf(t, plan).map(({ title, names, more }) => {
    const shown = names.slice(0, NAMES)
    const rest = more + names.length - shown.length
    if (rest > 0) shown.push(t('servers.planMore', { count: numberText(rest) }))
    return `${title}: ${shown.join(', ')}`
  })
}

/** Approves exactly the plan in the question. */
export async function approvePlan(server: Server, { t, refresh }: Tools): Promise<void> {
  const plan = await call(fleet.repairPlan, { params: { id: server.id } })
  if (!plan) return refresh()
  const body = [...linesOf(t, plan), t('servers.planBody')].join('\n')
  const question = { title: t('servers.planTitle', { name: server.name }), body, danger: true }
  // Additions and changes can be reverted, but removed users lose their connection.
  const yes = await confirm(risky(question, plan.removed.count))
  if (!yes) return
  await call(fleet.approvePlan, { params: { id: server.id }, body: { digest: plan.digest } })
  notify('good', t('list.done'))
  refresh()
}

/** Takes the agent over from the console named in the question. */
export async function takeOver(server: Server, { t, refresh }: Tools): Promise<void> {
  const { owner = '', name = '' } = server.trouble?.params ?? {}
  const yes = await confirm({
    title: t('servers.takeOverTitle', { name: server.name }),
    body: t('servers.takeOverBody', { console: String(name), owner: String(owner) }),
    danger: true
  })
  if (!yes) return
  await call(fleet.takeOver, { params: { id: server.id }, body: { owner: String(owner) } })
  notify('good', t('list.done'))
  refresh()
}
