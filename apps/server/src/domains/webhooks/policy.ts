import { fillIn, refusals, refuse, type Refusal } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { forbiddenTarget, type PublicHttpPolicy, type Resolve } from '../../integrations/public-http/index.ts'
import { readSettings } from '../settings/index.ts'

/** What webhooks need from higher domains and from the network. */
export type WebhookPorts = {
  /** Do some of these addresses belong to the shop's servers or ranges? */
  ownsAddresses: (db: Executor, addresses: readonly string[]) => Promise<boolean>
  /** By default the DNS. */
  resolve?: Resolve
}

/** The owner of endpoints: a customer (by id), or the operators (null). */
export type Owner = number | null

type Asking = Pick<AppContext, 'db' | 'config' | 'secrets'>

/**
 * The targets that an owner's webhooks may have now. Customers read replies, so they must not reach the operators' own
 * network.
 */
export async function readPolicy(
  ctx: Asking,
  { ownsAddresses }: WebhookPorts,
  owner: Owner
): Promise<PublicHttpPolicy> {
  const { webhooks_allow_http: allowHttp } = await readSettings(ctx.db, ctx.secrets)
  const { config } = ctx
  return {
    allowHttp,
    allowedUrls: owner === null ? config.webhookOrigins.map(origin => `${origin}/`) : config.customerWebhookUrls,
    ownHosts: [new URL(config.publicUrl).hostname],
    areOwn: addresses => ownsAddresses(ctx.db, addresses)
  }
}

/** Refuses an address that could never be sent to. Each try checks where its name resolves. */
export async function refusedTarget(
  ctx: Asking,
  ports: WebhookPorts,
  owner: Owner,
  url: string
): Promise<Refusal | null> {
  const policy = await readPolicy(ctx, ports, owner)
  const why = forbiddenTarget(new URL(url), policy)
  if (!why) return null
  const reason = `webhook_${why}` as const
  return refuse(reason, { data: { errors: { url: fillIn(refusals[reason][1]) } } })
}
