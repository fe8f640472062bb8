import { CUSTOMER_EVENTS } from '@netlet/contract'
import { and, eq } from 'drizzle-orm'
import { users } from '../../apps/server/src/domains/accounts/tables.ts'
import { createEndpoint, testEndpoint } from '../../apps/server/src/domains/webhooks/index.ts'
import { webhookEndpoints } from '../../apps/server/src/domains/webhooks/tables.ts'
import type { AppContext } from '../../apps/server/src/infra/context.ts'
import { ownsAddresses } from '../../apps/server/src/own-addresses.ts'
import { DEMO_CUSTOMER } from './demo-accounts.ts'
import type { DemoSettings } from './settings.ts'

const NAME = 'Stand-in on this machine'

/**
 * Creates an endpoint of the demo customer at the stand-in's page, and sends a test event, so that page and log have
 * content. A changed or deleted endpoint stays as it is; only its port is updated.
 */
export async function seedWebhook(ctx: AppContext, { platformPort, secrets }: DemoSettings): Promise<void> {
  const url = `http://127.0.0.1:${platformPort}/hooks/in/demo1`
  const [customer] = await ctx.db.select().from(users).where(eq(users.username, DEMO_CUSTOMER.username))
  if (!customer) return
  const [known] = await ctx.db
    .update(webhookEndpoints)
    .set({ url })
    .where(and(eq(webhookEndpoints.userId, customer.id), eq(webhookEndpoints.description, NAME)))
    .returning({ id: webhookEndpoints.id })
  if (known) return
  const by = {
    kind: 'user',
    id: customer.id,
    username: customer.username,
    isSuperuser: false,
    role: null,
    ip: '127.0.0.1',
    sessionHash: null,
    impersonator: null,
    scopes: null
  } as const
  const form = { url, description: NAME, events: [...CUSTOMER_EVENTS], enabled: true }
  const made = await createEndpoint(
    ctx,
    { ownsAddresses },
    { by, owner: customer.id, secret: secrets.hookSecret },
    form
  )
  if (!made.ok) throw new Error(made.msg ?? made.reason)
  const tested = await testEndpoint(ctx, by, { id: made.data.id, owner: customer.id })
  if (!tested.ok) throw new Error(tested.msg ?? tested.reason)
}
