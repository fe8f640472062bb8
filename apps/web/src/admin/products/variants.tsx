import type { Product, ServerGroup, Variant } from '@netlet/contract'
import { ActionIcon } from '@mantine/core'
import { IconPencil, IconTrash } from '@tabler/icons-react'
import { useT } from '../../i18n/admin.ts'
import { money, numberText } from '../../kit/money.ts'
import { type Column, DataTable } from '../kit/index.ts'
import { PriceChoices } from '../price-drift/choices.tsx'
import type { VariantDraft } from './draft.ts'
import classes from './products.module.css'
import { driftsOf } from './trouble.ts'
import { none } from '../../kit/none.tsx'

type Props = {
  variants: VariantDraft[]
  /** The saved product; undefined when adding one. */
  product: Product | undefined
  groups: readonly ServerGroup[]
  /** Errors of a variant's fields, by its index. */
  errorsOf: (at: number) => Record<string, string>
  /** Resolving a price applies to the saved product, so not while there are unsaved changes. */
  dirty: boolean
  /** Otherwise the variants are read-only. */
  mayChange: boolean
  onEdit: (variant: VariantDraft) => void
  onRemove: (variant: VariantDraft) => void
}

export function VariantsTable({ variants, product, groups, errorsOf, dirty, mayChange, onEdit, onRemove }: Props) {
  const t = useT()
  const savedOf = ({ id }: VariantDraft) => product?.variants.find(one => one.id === id)
  const groupName = (id: number | null) => groups.find(one => one.id === id)?.name ?? (id === null ? '' : String(id))
  const columns: Column<VariantDraft>[] = [
    {
      key: 'name',
      title: t('products.variant'),
      lead: true,
      render: variant => (
        <>
          <strong>{variant.variant_name}</strong>
          {Object.values(errorsOf(variants.indexOf(variant))).map(words => (
            <div key={words} className="bad size-table">
              {words}
            </div>
          ))}
        </>
      )
    },
    { key: 'desc', title: t('products.variant_desc'), render: variant => variant.variant_desc || none },
    {
      key: 'stock',
      title: t('products.stock'),
      align: 'end',
      render: variant => {
        const saved = savedOf(variant)
        return saved ? numberText(saved.variant_stock) : '–'
      }
    },
    { key: 'step', title: t('products.cart_step'), align: 'end', render: variant => variant.cart_step },
    {
      key: 'price',
      title: t('products.price'),
      align: 'end',
      render: variant => <Price variant={variant} saved={savedOf(variant)} />
    },
    {
      key: 'active',
      title: t('products.is_active'),
      render: variant => t(variant.is_active ? 'list.yes' : 'list.no')
    },
    {
      key: 'group',
      title: t('products.server_group'),
      render: variant =>
        variant.server_group === null ? (
          <span className="warn size-table">{t('products.nowhere')}</span>
        ) : (
          groupName(variant.server_group)
        )
    },
    { key: 'time', title: t('products.proxy_time'), align: 'end', render: variant => variant.proxy_time },
    {
      key: 'actions',
      title: t('list.actions'),
      align: 'end',
      render: variant => (
        <span className="row unwrapped stretch inline" style={{ gap: '0.15rem' }}>
          <ActionIcon
            variant="subtle"
            color="gray"
            data-open
            aria-label={`${t('list.edit')}: ${variant.variant_name}`}
            onClick={() => onEdit(variant)}
          >
            <IconPencil size={17} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="red.9"
            aria-label={`${t('list.delete')}: ${variant.variant_name}`}
            onClick={() => onRemove(variant)}
          >
            <IconTrash size={17} aria-hidden />
          </ActionIcon>
        </span>
      )
    }
  ]
  return (
    <>
      {product && <Drifts product={product} dirty={dirty} />}
      <DataTable
        label={t('products.variants')}
        columns={mayChange ? columns : columns.filter(({ key }) => key !== 'actions')}
        rows={variants}
        rowKey={variant => variant.shopify_variant_id}
        pending={false}
        empty={{ title: t('products.noVariants'), body: t('products.noVariantsHint') }}
      />
    </>
  )
}

type PriceProps = { variant: VariantDraft; saved: Variant | undefined }

function Price({ variant, saved }: PriceProps) {
  const t = useT()
  return (
    <>
      {money(variant.variant_price || '0')}
      {saved?.price_drift && (
        <div className="warn size-table">
          {t('products.driftNote', { price: money(saved.price_drift.platform_price) })}
        </div>
      )}
    </>
  )
}

/** The product's prices that differ from the platform's, with buttons to resolve each. */
function Drifts({ product, dirty }: { product: Product; dirty: boolean }) {
  const t = useT()
  const differing = driftsOf(product)
  if (differing.length === 0) return null
  return (
    <section className={`size-body ${classes.drifts}`} aria-label={t('health.drift.title')}>
      <h4>{t('health.drift.title')}</h4>
      <ul>
        {differing.map(({ id, variant_name, variant_price, price_drift }) => (
          <li key={id} className="row between" style={{ gap: '0.3rem 1rem', paddingBlock: '0.3rem' }}>
            <span>
              {t('products.driftOf', {
                name: variant_name,
                ours: money(variant_price),
                theirs: money(price_drift?.platform_price ?? '0')
              })}
            </span>
            <PriceChoices
              drift={{
                id: price_drift?.id ?? 0,
                name: `${product.product_name}: ${variant_name}`,
                price: variant_price,
                platform_price: price_drift?.platform_price ?? ''
              }}
              whyNot={dirty ? t('products.saveFirst') : undefined}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
