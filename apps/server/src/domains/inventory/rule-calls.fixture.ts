import type { AclRule, RuleConflicts, RuleOverlap } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import type { TestClient } from '../../testing/client.ts'
import { addGroup, addOrders, addServer, inTransaction } from './inventory.fixture.ts'
import { addCidr } from './index.ts'

const RULES_PATH = '/api/servers/acls/'

export type Decision = { rule_id: number; domain?: string; winner: 'narrow' | 'broad' }
type Refused = { errors: { acl_value: string }; overlaps: RuleOverlap[]; overlap_total: number }
type Saved = { code: number; msg: string; data: AclRule & Refused }

/** Each rule is sold as a variant of its own. */
export const variantOf = (name: string): string =>
  String(Buffer.from(name).reduce((sum, byte) => (sum * 33 + byte) % 1_000_000_007, 5))

/** An administrator's calls of access rules: a rule by its name, its domains, and decisions about overlaps. */
export function ruleCalls(admin: TestClient) {
  const form = (name: string, domains: string[], decisions?: Decision[]) => ({
    name,
    price: '1.50',
    shopify_variant_id: variantOf(name),
    description: 'd',
    acl_value: domains.join('\n'),
    decisions
  })
  const post = (name: string, domains: string[], decisions?: Decision[]): Promise<Saved> =>
    admin.post<AclRule & Refused>(RULES_PATH, form(name, domains, decisions))
  return {
    post,
    put: (id: number, name: string, domains: string[], decisions?: Decision[]): Promise<Saved> =>
      admin.put<AclRule & Refused>(`${RULES_PATH}${id}/`, form(name, domains, decisions)),
    remove: (id: number) => admin.delete(`${RULES_PATH}${id}/`),
    /** Adds a rule that must not be refused. @returns its id */
    async add(name: string, domains: string[], decisions?: Decision[]): Promise<number> {
      const reply = await post(name, domains, decisions)
      if (reply.code !== 2000) throw new Error(reply.msg)
      return reply.data.id
    },
    conflicts: async () => (await admin.get<RuleConflicts>(`${RULES_PATH}conflicts/`)).data,
    check: (body: object) => admin.post<RuleConflicts>(`${RULES_PATH}check/`, body)
  }
}

/** A server group with one range of its own, and orders. */
export async function addStock(
  db: Executor,
  name: string,
  { cidr, orders }: { cidr: string; orders: number }
): Promise<{ groupId: number; orders: number[] }> {
  const serverId = await addServer(db, name)
  const groupId = await addGroup(db, name, [serverId])
  const added = await inTransaction(db, addCidr, { cidr, serverId })
  if (!added.ok) throw new Error(added.reason)
  return { groupId, orders: await addOrders(db, groupId, orders) }
}
