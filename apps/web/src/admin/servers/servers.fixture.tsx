import type { AgentSettings, BulkRun, Server, ServerPlan, Upgrade, ProxyTls } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { fleet } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { admin, bulkRun, pageOf, server } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import ServersPage from './page.tsx'

export const ROUTE = '/dashboard/index/servers'
const range = (n: number) => ({ id: n, cidr: `192.0.2.${n * 8}/29`, ip_count: 8, name: `192.0.2.${n * 8}/29` })
export const busy: Server = {
  ...server,
  cidrs: [1, 2, 3, 4, 5, 6, 7].map(range),
  orders: 3,
  leased: 24,
  users: { wanted: 90, confirmed: 88, behind: 2 },
  agent: {
    at: '2026-06-15T08:00:00.000Z',
    version: '0.1.0',
    status: 'ok',
    workers: 2,
    uptime_seconds: 3600,
    users: 3,
    connections: 1234,
    rate: { up: 1500, down: 25_000_000 },
    hours: [{ at: '2026-06-15T08:00:00.000Z', up: 1000, down: 2_000_000, connections: 5 }]
  }
}
export const plan: ServerPlan = {
  orders: 5,
  addresses: 40,
  undelivered: 1,
  unpaid: 2,
  moves: { orders: 2, addresses: 16 },
  stays: { orders: 3, addresses: 24 },
  staying: [{ order_id: 'NL-stays', addresses: 8 }],
  reservations: { moves: { orders: 1, addresses: 8 }, stays: { orders: 1, addresses: 16 } },
  stock: [
    { group: { id: 1, name: 'Europe' }, rule: { id: 1, name: 'nike' }, family: 'ipv4' as const, before: 56, after: 24 }
  ]
}
export const run: BulkRun = {
  ...bulkRun,
  action: 'order.leave_server',
  state: 'done',
  done: 3,
  succeeded: 2,
  refused: 1
}

export const noSettings: AgentSettings = {
  settings: {},
  applied: {},
  local: ['AGENT_WORKERS'],
  can_apply: true,
  lines: '',
  agent_format: 3,
  upgrade_to: '0.1.0+5eed0001',
  version: 'no settings'
}

export const noTls: ProxyTls = {
  source: 'unset',
  certificate: null,
  certificate_file: '',
  key_file: '',
  state: 'unset',
  reason: null,
  params: {},
  msg: null,
  shown: null,
  port: 3128,
  version: 'no tls'
}

export function open(at = ROUTE, rows: Server[] = [busy], as = admin, upgradesNow: Upgrade[] = []) {
  keepNothing()
  answer(fleet.servers, pageOf(...rows))
  answer(fleet.serverNames, pageOf(...rows.map(({ id, name }) => ({ id, name }))))
  answer(fleet.server, rows[0] ?? busy)
  answer(fleet.groups, pageOf())
  answer(fleet.plan, plan)
  answer(fleet.agentVersion, { version: '0.1.0+5eed0001' })
  answer(fleet.upgrades, pageOf(...upgradesNow))
  answer(fleet.agentSettings, noSettings)
  answer(fleet.proxyTls, noTls)
  return renderScreen(<ServersPage />, { at, route: ROUTE, as })
}
type User = ReturnType<typeof open>['user']
export const choose = async (user: User, entry: string, name = 'paris') => {
  await user.click(await screen.findByRole('button', { name: `Actions: ${name}` }))
  await user.click(await screen.findByRole('menuitem', { name: entry }))
}
export const dialog = (title: string) => screen.findByRole('dialog', { name: title })
export const say = async (user: User, word: 'YES' | 'NO') =>
  user.click(await screen.findByRole('button', { name: word }))
