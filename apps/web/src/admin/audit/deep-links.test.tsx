import type { ReplyOf, Resource as Kind } from '@netlet/contract'
import { screen, waitFor } from '@testing-library/react'
import type { ComponentType } from 'react'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../api/client.ts'
import { catalog, fleet, inventory, rewards, support } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import Faqs from '../faqs/page.tsx'
import GiftCards from '../gift-cards/page.tsx'
import type { RowOf } from '../kit/resource.ts'
import { card, keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import LevelCodes from '../level-codes/page.tsx'
import ProductTags from '../product-tags/page.tsx'
import ProductTypes from '../product-types/page.tsx'
import PromoCodes from '../promo-codes/page.tsx'
import Ranges from '../ranges/page.tsx'
import RuleGroups from '../rule-groups/page.tsx'
import Rules from '../rules/page.tsx'
import ServerGroups from '../server-groups/page.tsx'
import { TARGETS } from './targets.ts'

const at = '2026-06-15T08:00:00.000Z'
const effect = { orders: 0, unpaid: 0, addresses: 0, free: 0, added: 0, removed: 0, others: 0, agents: 0, groups: [] }
const conflicts = {
  duplicates: [],
  duplicate_total: 0,
  overlaps: [],
  overlap_total: 0,
  undecided_total: 0,
  rules: [],
  shared: []
}

/** A page of a list whose rows stand on other pages. */
const elsewhere = { ...pageOf<never>(), total: 20 }

/** A screen, its list, and the row 77 of the list, which is found by its id alone. */
const linked = <L extends Endpoint>(page: ComponentType, list: L, name: string, row: RowOf<L>) => ({
  page,
  list,
  name,
  /** `there`: the row was not deleted. */
  serve: (there: boolean) =>
    answer(list, ({ query }) => (query['id'] === '77' && there ? pageOf(row) : elsewhere) as unknown as ReplyOf<L>)
})

/** What the platform has under a code: nobody looked. */
const notSeen = {
  platform_state: 'unknown' as const,
  platform_differs: [],
  platform_problem: null,
  platform_checked_at: null
}

const LINKED = {
  gift_card: linked(GiftCards, rewards.giftCards, 'CARD-77', card(77)),
  coupon: linked(PromoCodes, rewards.coupons, 'WELCOME', {
    id: 77,
    holder_username: 'alice',
    username: 'alice',
    code: 'WELCOME',
    code_type: 1,
    discount: '5.00',
    discount_type: 'amount',
    ...notSeen,
    is_used: false,
    created_at: at,
    version: 'v'
  }),
  level_code: linked(LevelCodes, rewards.levelCodes, '2 · Silver', {
    id: 77,
    level: 2,
    discount: '10.00',
    discount_type: 'amount',
    ...notSeen,
    code: 'S',
    point: 5000,
    version: 'v'
  }),
  faq: linked(Faqs, support.faqs, 'Why?', { id: 77, question: 'Why?', answer: 'So.', version: 'v' }),
  tag: linked(ProductTags, catalog.tags, 'Fast', {
    id: 77,
    tag_name: 'Fast',
    tag_desc: '',
    is_internal: false,
    version: 'v'
  }),
  collection: linked(ProductTypes, catalog.collections, 'Homes', {
    id: 77,
    collection_name: 'Homes',
    collection_desc: '',
    shopify_collection_id: '300',
    image_url: null,
    product_count: 4,
    version: 'v'
  }),
  acl_rule: linked(Rules, inventory.rules, 'Shoes', {
    id: 77,
    name: 'Shoes',
    price: '1.50',
    shopify_variant_id: '4400000001',
    description: 'd',
    acl_value: 'nike.com',
    created_at: at,
    version: 'v'
  }),
  acl_group: linked(RuleGroups, inventory.groups, 'Basic', {
    id: 77,
    name: 'Basic',
    description: 'd',
    acls: [],
    version: 'v'
  }),
  server_group: linked(ServerGroups, fleet.groups, 'Europe', {
    id: 77,
    name: 'Europe',
    description: 'd',
    servers: [],
    version: 'v'
  })
}
const range = linked(Ranges, inventory.cidrs, '10.0.7.0/24', {
  id: 77,
  cidr: '10.0.7.0/24',
  ip_count: 256,
  exclude_acl: [],
  delivery_count: 0,
  server_ids: [],
  servers: [],
  created_at: at,
  version: 'v'
})
type Linked = Pick<ReturnType<typeof linked>, 'page' | 'list' | 'name' | 'serve'>

beforeEach(() => {
  keepNothing()
  answer(inventory.rules, pageOf())
  answer(fleet.servers, pageOf())
  answer(fleet.serverNames, pageOf())
  answer(catalog.priceDrift, pageOf())
  answer(catalog.syncRuns, [])
  answer(inventory.ruleConflicts, conflicts)
  answer(inventory.checkRule, { ...conflicts, effect })
  answer(inventory.cidrEffect, { sells: true, excluded: [], allowed: [], orders: 0 })
})

it('each address of the audit log that opens a form is tried here', () => {
  const forms = Object.entries(TARGETS).filter(([, target]) => target?.('77').includes('form=edit.'))
  expect(forms.map(([kind]) => kind).toSorted()).toEqual(Object.keys(LINKED).toSorted())
})

const addresses: [string, string, Linked][] = [
  ...(Object.entries(LINKED) as [Kind, Linked][]).map(([kind, one]): [string, string, Linked] => [
    kind,
    TARGETS[kind]?.('77') ?? '',
    one
  ]),
  ['cidr', '/dashboard/index/CIDRManage?form=edit.77', range]
]

describe.each(addresses)('the address of a %s', (_kind, address, { page: Page, list, name, serve }) => {
  it('opens its form, on whatever page of the list it stands', async () => {
    serve(true)
    const { asked } = renderScreen(<Page />, { at: address })
    expect(await screen.findByRole('dialog', { name: `Edit: ${name}` })).toBeTruthy()
    expect(requestsOf(list).some(({ query }) => query['id'] === '77')).toBe(true)
    expect(asked()).toEqual({ form: 'edit.77' })
  })

  it('says that it is gone where the list has none', async () => {
    serve(false)
    const { asked } = renderScreen(<Page />, { at: address })
    expect(await screen.findByText('This entry is not in the list any more')).toBeTruthy()
    await waitFor(() => expect(asked()).toEqual({}))
  })
})
