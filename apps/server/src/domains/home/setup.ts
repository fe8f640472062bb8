import { SETUP_STEPS, type SetupStep } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { AppContext } from '../../infra/context.ts'
import { products, variants } from '../catalog/tables.ts'
import { openPlatform } from '../commerce/index.ts'
import { serverGroups, serverGroupServers, servers } from '../servers/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import { mailIsSetUp } from '../mail/index.ts'
import { readSettings } from '../settings/index.ts'

/** Which setup steps a new shop has done, in order. */
export async function readSetup(ctx: AppContext) {
  const { db, secrets, config } = ctx
  const settings = await readSettings(db, secrets)
  const { rows } = await db.execute<Record<Exclude<SetupStep, 'platform' | 'mail'>, boolean>>(sql`
    select exists (select from ${aclRules}) as rule,
      exists (select from ${servers} where deleted_at is null and status <> 'given_up') as server,
      exists (
        select from ${serverGroups} g join ${serverGroupServers} on group_id = g.id where g.deleted_at is null
      ) as "group",
      exists (
        select from ${variants} v join ${products} p on p.id = v.product_id
        where v.deleted_at is null and v.is_active and v.server_group_id is not null and p.deleted_at is null and p.active
      ) as product`)
  const [there] = rows
  const done: Record<SetupStep, boolean> = {
    platform: settings.shopify_api_secret !== '' && (await openPlatform(ctx)).ok,
    mail: mailIsSetUp(settings, config),
    rule: there?.rule ?? false,
    server: there?.server ?? false,
    group: there?.group ?? false,
    product: there?.product ?? false
  }
  return SETUP_STEPS.map(step => ({ step, done: done[step] }))
}
