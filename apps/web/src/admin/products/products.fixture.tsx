import type { PlatformProduct, Product, Variant } from '@netlet/contract'
import { catalog, fleet, orders } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import {
  admin,
  collection,
  group,
  pageOf,
  product as anyProduct,
  tag,
  variant as anyVariant
} from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import ProductsPage from './page.tsx'

export const PATH = '/dashboard/index/productManager'

export const variant: Variant = {
  ...anyVariant,
  id: 11,
  variant_name: 'New York / 8',
  variant_desc: 'US East',
  variant_price: '2.20',
  variant_option1: 'New York',
  variant_option2: '8',
  server_group: { id: 1, name: 'East' },
  shopify_variant_id: '1100'
}
export const product: Product = {
  ...anyProduct,
  id: 7,
  shopify_product_id: '700',
  product_desc: 'Homes',
  lower_price: '2.20',
  product_collections: [{ id: 3, collection_name: 'Homes' }],
  product_tags: [{ id: 8, tag_name: 'Fast' }],
  variant_options: [{ option_name: 'Location', option_values: [{ option_value: 'New York' }] }],
  variants: [variant],
  version: 'v7'
}
export const there: PlatformProduct = {
  shopify_product_id: '900',
  product_name: 'Mobile',
  product_desc: 'Phones',
  image_url: null,
  product_collections: [{ id: 3, collection_name: 'Homes' }],
  product_tags: [],
  variant_options: [{ option_name: 'Location', option_values: [{ option_value: 'Berlin' }] }],
  variants: [
    {
      shopify_variant_id: '9100',
      variant_name: 'Berlin',
      variant_price: '4.00',
      variant_option1: 'Berlin',
      variant_option2: null,
      variant_option3: null
    }
  ]
}

/** Renders the screen and answers the calls that all its forms make. */
export function openProducts(at: string, shown: Product | null = product, as = admin) {
  keepNothing()
  answer(catalog.products, shown ? pageOf(shown) : pageOf())
  answer(catalog.tags, pageOf(tag))
  answer(catalog.collections, pageOf({ ...collection, collection_name: 'Homes' }))
  answer(fleet.groups, pageOf({ ...group, id: 1, name: 'East' }, { ...group, id: 2, name: 'West' }))
  answer(catalog.syncRuns, [])
  answer(orders.ofProduct, { unpaid: 1, live: 3, variants: [{ id: 11, unpaid: 1, live: 3 }] })
  answer(catalog.groupStock, ({ query }) =>
    query['server_group'] === '2'
      ? { max_step: 4, stock: 16, rules: [{ acl_id: 5, acl_name: 'Video', stock: 16 }] }
      : { max_step: 256, stock: 64, rules: [{ acl_id: 5, acl_name: 'Video', stock: 64 }] }
  )
  return renderScreen(<ProductsPage />, { at, route: `${PATH}/:product?`, as })
}
