import { z } from 'zod'
import { Name } from '../foreign-texts.ts'
import { documents } from './documents.ts'
import { done, type ShopifyResult } from './result.ts'
import type { Execute } from './transport.ts'

/** The scope that tells in which sales channels a variant is. An app without it may not ask, or gets no variant. */
export const READ_PUBLICATIONS = 'read_publications'

const App = z.object({ handle: Name.nullable() })
const Catalog = z.object({ apps: z.object({ nodes: z.array(App) }).optional() })
const Publications = z.object({
  publications: z.object({ nodes: z.array(z.object({ id: Name, catalog: Catalog.nullable() })) })
})

/**
 * The publication of the Online Store, whose checkout our links use; null if there is none. Since 2026-07 a variant can
 * be taken out of it while its product stays. Its app's handle tells which it is: its name is in the merchant's language.
 */
export async function readOnlineStore(execute: Execute): Promise<ShopifyResult<string | null>> {
  const reply = await execute(documents.onlineStore, {}, Publications)
  if (!reply.ok) return reply
  const store = reply.value.publications.nodes.find(({ catalog }) =>
    catalog?.apps?.nodes.some(({ handle }) => handle === 'online_store')
  )
  return done(store?.id ?? null)
}
