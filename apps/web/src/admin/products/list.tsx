import type { Product } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'react-router'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/money.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { SyncButton } from '../catalog-sync/sync-button.tsx'
import { column, date, defineResource, idFilter, integer, May, money, oneOf, yesNo, yesNoFilter } from '../kit/index.ts'
import { useCollections } from '../orders/cells.tsx'
import { ADD, editPath } from './paths.ts'
import { stockTrackedVariants, driftsOf, hasProblem, shippedVariants, whyInvalid, withoutGroup } from './trouble.ts'
import { none } from '../../kit/none.tsx'

/** The platform's products added to the shop, with open decisions. */
export const Products = defineResource({
  key: 'products',
  list: catalog.products,
  nameOf: product => product.product_name,
  problem: hasProblem,
  columns: [
    integer('id', { optional: true }),
    column('product_name', (product: Product) => <NameCell product={product} />, { lead: true }),
    yesNo('active'),
    money('lower_price', { prefix: '$' }),
    column('collection', (product: Product) => names(product.product_collections.map(one => one.collection_name))),
    column('tags', (product: Product) => names(product.product_tags.map(one => one.tag_name))),
    column(
      'variants',
      ({ variants }: Product) => `${variants.filter(variant => variant.is_active).length}/${variants.length}`,
      { align: 'end' }
    ),
    column(
      'stock',
      ({ variants }: Product) =>
        numberText(variants.reduce((most, variant) => Math.max(most, variant.variant_stock), 0)),
      { align: 'end' }
    ),
    column('state', (product: Product) => <State product={product} />, { wide: true }),
    date('created_at', { optional: true })
  ],
  sort: ['id'],
  filters: [
    yesNoFilter('active'),
    oneOf('problem', ['1'], 'products.trouble'),
    oneOf('low_stock', ['1'], 'products.low'),
    idFilter('collection', useCollections),
    idFilter('tags', useTags)
  ],
  address: ['sync'],
  toolbar: Toolbar,
  editAt: product => editPath(product.id),
  edits: catalog.updateProduct,
  remove: {
    route: catalog.deleteProduct,
    confirm: async (t, product) => {
      const open = await call(orders.ofProduct, { params: { id: product.id } })
      return {
        title: t('list.deleteTitle'),
        body: t('products.deleteBody', {
          name: product.product_name,
          variants: product.variants.length,
          live: open.live,
          unpaid: open.unpaid
        }),
        danger: true
      }
    }
  },
  csv: true
})

const names = (all: string[]) =>
  all.length > 0 ? <span style={{ display: 'inline-block', maxWidth: '14rem' }}>{all.join(', ')}</span> : none

function NameCell({ product }: { product: Product }) {
  const { search } = useLocation()
  return (
    <Link to={editPath(product.id)} state={{ list: search }} className="strong plain">
      {product.product_name}
    </Link>
  )
}

function State({ product }: { product: Product }) {
  const t = useT()
  const drifts = driftsOf(product).length
  const nowhere = withoutGroup(product).length
  const counted = stockTrackedVariants(product)
  const shipped = shippedVariants(product).length
  const soldOut = counted.filter(variant => variant.platform_stock === 'sold_out').length
  if (!hasProblem(product) && !product.unlisted) return none
  return (
    <span className="row inline" style={{ gap: '0.2rem 0.6rem' }}>
      {!product.valid && <StateBadge tone="bad">{t(`products.${whyInvalid(product)}`)}</StateBadge>}
      {product.unlisted && <StateBadge tone="off">{t('products.unlisted')}</StateBadge>}
      {product.old_flag && <StateBadge tone="wait">{t('products.changed')}</StateBadge>}
      {drifts > 0 && <StateBadge tone="wait">{t('products.drift', { count: drifts })}</StateBadge>}
      {soldOut > 0 && <StateBadge tone="bad">{t('products.soldOut', { count: soldOut })}</StateBadge>}
      {counted.length > soldOut && (
        <StateBadge tone="wait">{t('products.counted', { count: counted.length - soldOut })}</StateBadge>
      )}
      {shipped > 0 && <StateBadge tone="wait">{t('products.shipped', { count: shipped })}</StateBadge>}
      {nowhere > 0 && <StateBadge tone="wait">{t('products.noGroup', { count: nowhere })}</StateBadge>}
    </span>
  )
}

function Toolbar() {
  return (
    <>
      <SyncButton of="catalogue" />
      <AddButton />
    </>
  )
}

function AddButton() {
  const t = useT()
  const { search } = useLocation()
  return (
    <May make={catalog.createProduct}>
      <Button component={Link} to={ADD} state={{ list: search }} leftSection={<IconPlus size={16} aria-hidden />}>
        {t('products.add')}
      </Button>
    </May>
  )
}

function useTags() {
  const { data } = useQuery(read(catalog.tags, { query: { limit: 1000 } }))
  return (data?.data ?? []).map(({ id, tag_name }) => ({ value: String(id), label: tag_name }))
}
