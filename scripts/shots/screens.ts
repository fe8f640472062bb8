import { readFile } from 'node:fs/promises'
import type { APIRequestContext } from '@playwright/test'
import { accounts } from '../../packages/contract/src/accounts.ts'
import { catalog } from '../../packages/contract/src/catalog.ts'
import { orders } from '../../packages/contract/src/orders.ts'
import { pageAt, pagePaths, type PageId } from '../../packages/contract/src/pages.ts'

export const ROLES = ['public', 'customer', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** A picture's name and address. */
export type Shot = { name: string; path: string }

/** `order`: any order; `own`: an order of the customer. */
export type Ids = { product: number; user: number; order: number; own: number; collection: number }

/** The ids for addresses with parameters: the first that an administrator and the customer find. */
export async function someIds(admin: APIRequestContext, customer: APIRequestContext): Promise<Ids> {
  const first = async ({ path }: { path: string }, request = admin) => {
    const reply = await request.get(path)
    const { data } = (await reply.json()) as { data?: { data: { id: number }[] } }
    const id = data?.data[0]?.id
    if (id === undefined) throw new Error(`nothing is at ${path}: ${reply.status()}`)
    return id
  }
  return {
    product: await first(catalog.products),
    user: await first(accounts.users),
    order: await first(orders.list),
    own: await first(orders.list, customer),
    collection: await first(catalog.collections)
  }
}

/** Every screen of the manifest for this role, and further addresses. */
export async function shotsOf(role: Role, ids: Ids): Promise<Shot[]> {
  const own = (await rolesOfScreens()).filter(
    screen => screen.role === role || (screen.role === 'user' && role !== 'public')
  )
  const shots = own.map(({ id, role: of }) => ({
    name: of === 'user' ? `${id}-${role}` : id,
    path: withIds(id, ids)
  }))
  return [...shots, ...MORE[role](ids)]
}

/** Optional parameters are omitted. */
const withIds = (id: PageId, ids: Ids) =>
  pageAt(id, id === 'user' ? { id: ids.user } : id === 'order' ? { id: ids.order } : {})

const moreOfTheShop = ({ product }: Ids): Shot[] => [
  { name: 'product-one', path: `/product?id=${product}` },
  { name: 'product-gone', path: '/product?id=999999' },
  ...[2, 3].map(id => ({ name: `policy-${id}`, path: `/policy?id=${id}` })),
  { name: 'not-found', path: '/no/such/page' }
]

const moreOfACustomer = ({ own, collection }: Ids): Shot[] => [
  { name: 'receipt', path: pageAt('receipts', { order: own }) },
  { name: 'proxies-of-collection', path: pageAt('Proxies', { id: collection }) }
]

const MORE: Record<Role, (ids: Ids) => Shot[]> = {
  public: moreOfTheShop,
  customer: moreOfACustomer,
  admin: () => []
}

/** Parsed as text, because the manifest is browser code. */
async function rolesOfScreens(): Promise<{ id: PageId; role: Role | 'user' }[]> {
  const manifest = await readFile(new URL('../../apps/web/src/app/manifest.ts', import.meta.url), 'utf8')
  const found = [...manifest.matchAll(/\bid: '(\w+)',\s*role: '(public|customer|admin|user)'/g)].map(
    ([, id, role]) => ({ id, role }) as { id: PageId; role: Role | 'user' }
  )
  const missing = Object.keys(pagePaths).filter(id => !found.some(screen => screen.id === id))
  if (missing.length > 0) throw new Error(`who ${missing.join(', ')} is for was not found in the manifest`)
  return found
}
