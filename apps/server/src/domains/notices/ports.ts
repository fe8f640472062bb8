import type { Language } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { PublicHttpPolicy, Resolve } from '../../integrations/public-http/index.ts'
import type { NoticeFinder } from './found.ts'

export type Operator = { id: number; username: string; email: string; language: Language }

/** What notices need of the domains above them, and of the network. */
export type NoticePorts = {
  finders: readonly NoticeFinder[]
  /** Active operators: these, or without ids all whose work it is to act on notices. */
  operators(db: Executor, ids: readonly number[]): Promise<Operator[]>
  /** Are some of these addresses the shop's own: its servers', or of its ranges? */
  ownsAddresses(db: Executor, addresses: readonly string[]): Promise<boolean>
  /** By default the DNS, and 10 s for an exchange. */
  resolve?: Resolve
  timeoutMs?: number
}

/** Where notices may be posted: to public addresses with https, and to origins that the environment names. */
export const readPolicy = (
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  { ownsAddresses }: Pick<NoticePorts, 'ownsAddresses'>
): PublicHttpPolicy => ({
  allowHttp: false,
  allowedUrls: config.webhookOrigins.map(origin => `${origin}/`),
  ownHosts: [new URL(config.publicUrl).hostname],
  areOwn: addresses => ownsAddresses(db, addresses)
})
