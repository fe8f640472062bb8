import { fillIn, refusals, refuse, type Refusal } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { forbiddenTarget, type PublicHttpPolicy, type Resolve } from '../../integrations/public-http/index.ts'
import { readSettings } from '../settings/index.ts'

/** What webhooks need of the domains above them, and of the network. */
export type WebhookPorts = {
  /** Are some of these addresses the shop's own: its servers', or of its ranges? */
  ownsAddresses: (db: Executor, addresses: readonly string[]) => Promise<boolean>
  /** By default the DNS. */
  resolve?: Resolve
}

/** Whose endpoints a call is about: a customer's (by id), or the operators' (null). */
export type Owner = number | null

type Asking = Pick<AppContext, 'db' | 'config' | 'secrets'>

/**
 * Where an owner's webhooks may go, by the settings and the environment as they are now. What the operators may reach in
 * their own network is not for customers, who would read its answers.
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

/** Refuses an address that nothing would ever be sent to. What its name leads to is looked at with each try. */
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
