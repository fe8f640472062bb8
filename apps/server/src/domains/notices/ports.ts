import type { Language } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { PublicHttpPolicy, Resolve } from '../../integrations/public-http/index.ts'
import type { NoticeFinder } from './found.ts'

export type Operator = { id: number; username: string; email: string; language: Language }

/** What notices need from higher domains and from the network. */
export type NoticePorts = {
  finders: readonly NoticeFinder[]
  /** Active operators: these, or without ids all who act on notices. */
  operators(db: Executor, ids: readonly number[]): Promise<Operator[]>
  /** Do some of these addresses belong to the shop's servers or ranges? */
  ownsAddresses(db: Executor, addresses: readonly string[]): Promise<boolean>
  /** By default the DNS, and 10 s for an exchange. */
  resolve?: Resolve
  timeoutMs?: number
}

/** Where notices may be posted: public addresses with https, and origins that the environment names. */
export const readPolicy = (
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  { ownsAddresses }: Pick<NoticePorts, 'ownsAddresses'>
): PublicHttpPolicy => ({
  allowHttp: false,
  allowedUrls: config.webhookOrigins.map(origin => `${origin}/`),
  ownHosts: [new URL(config.publicUrl).hostname],
  areOwn: addresses => ownsAddresses(db, addresses)
})
