import type { Product } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { catalog, orders, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { rules } from '../../kit/form.ts'
import { isSame } from '../../kit/merge.ts'
import { notify } from '../../kit/notify.ts'
import { ProductUpdate } from '../../kit/schemas.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { type Undo, WorkButton } from '../kit/index.ts'
import { type Draft, draftOf, newVariant, updateBody, type VariantDraft } from './draft.ts'
import { Editor } from './editor.tsx'
import { useBack } from './paths.ts'
import { stockTrackedVariants, shippedVariants, whyInvalid } from './trouble.ts'

const checkForm = rules(ProductUpdate)

/** Edits one product. Follows changes by others until something is entered. */
export function EditProduct({ id }: { id: number }) {
  const t = useT()
  const back = useBack()
  const { data, error, refetch } = useQuery(read(catalog.products, { query: { id, limit: 1 } }))
  const product = data?.data[0]
  const [base, setBase] = useState<Product>()
  // The draft is kept when the base changes.
  const [opened, setOpened] = useState('')
  const dirty = useRef(false)
  const mark = useCallback((now: boolean) => {
    dirty.current = now
  }, [])
  useEffect(() => {
    if (!product || dirty.current) return
    setBase(product)
    setOpened(product.version)
  }, [product])
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (data && !product && !base)
    return (
      <EmptyState title={t('products.gone')} body={t('products.goneHint')}>
        <Button variant="default" onClick={() => back()}>
          {t('products.back')}
        </Button>
      </EmptyState>
    )
  if (!base) return <Skeleton height={420} aria-label={t('products.loading')} />
  // Show current stock and platform prices, but edit the version that was opened.
  const shown = product?.version === base.version ? product : base
  return (
    <Editor
      key={opened}
      title={base.product_name}
      start={draftOf(base)}
      options={base.variant_options}
      product={shown}
      check={draft => checkForm(updateBody(draft, base))}
      save={async draft => {
        try {
          const body = updateBody(draft, base)
          const saved = await call(catalog.updateProduct, { params: { id }, body }, { timeout: 60_000 })
          return undoOf(base, saved, draft)
        } finally {
          // Even after a refusal, because prices may have been taken from the platform.
          void refresh(catalog.products, catalog.priceDrift, orders.ofProduct, settings.health)
        }
      }}
      onTheirs={setBase}
      onDirty={mark}
      notices={<Notices product={shown} />}
      variantTools={tools => <PlatformVariants id={id} {...tools} />}
    />
  )
}

/** The edit that reverts an edit; undefined if variants were added or removed, or a platform change was resolved. */
function undoOf(before: Product, { version }: Product, draft: Draft): Undo | undefined {
  const idsOf = (variants: readonly { id?: number | undefined }[]) =>
    variants.map(({ id: one }) => one ?? 0).toSorted((a, b) => a - b)
  const former = draftOf(before)
  if (before.old_flag || isSame(former, draft) || !isSame(idsOf(former.variants), idsOf(draft.variants)))
    return undefined
  const body = { ...updateBody(former, before), version }
  return { route: catalog.updateProduct, input: { params: { id: before.id }, body } }
}

function Notices({ product }: { product: Product }) {
  const t = useT()
  const counted = stockTrackedVariants(product)
  const shipped = shippedVariants(product)
  return (
    <>
      {!product.valid && <p className="notice warn">{t(`products.${whyInvalid(product)}Hint`)}</p>}
      {counted.length > 0 && (
        <p className="notice warn">
          {t('products.countedHint', { names: counted.map(one => one.variant_name).join(', ') })}
        </p>
      )}
      {shipped.length > 0 && (
        <p className="notice warn">
          {t('products.shippedHint', { names: shipped.map(one => one.variant_name).join(', ') })}
        </p>
      )}
      {product.unlisted && <p className="notice warn">{t('products.unlistedHint')}</p>}
      {product.old_flag && <p className="notice warn">{t('products.changedHint')}</p>}
    </>
  )
}

type ToolsProps = { id: number; variants: VariantDraft[]; add: (more: VariantDraft[]) => void }

/** Adds the platform's variants that the product lacks. */
function PlatformVariants({ id, variants, add }: ToolsProps) {
  const t = useT()
  const [running, setRunning] = useState(false)
  const look = async () => {
    setRunning(true)
    try {
      const there = await call(catalog.platformProduct, { params: { id } }, { timeout: 60_000 })
      const known = new Set(variants.map(one => one.shopify_variant_id))
      const more = there.variants.filter(one => !known.has(one.shopify_variant_id)).map(newVariant)
      if (more.length > 0) add(more)
      notify('info', more.length > 0 ? t('products.found', { count: more.length }) : t('products.foundNone'))
    } catch (error) {
      notify('bad', failureText(error))
    } finally {
      setRunning(false)
    }
  }
  return (
    <WorkButton size="compact-sm" variant="default" working={running} onClick={() => void look()}>
      {t('products.look')}
    </WorkButton>
  )
}
