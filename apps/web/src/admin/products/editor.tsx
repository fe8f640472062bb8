import '../kit/styles.ts'
import type { Product, ServerGroup } from '@netlet/contract'
import { Button, Checkbox, Textarea, TextInput } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { ApiError } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { queryClient, read } from '../../api/query.ts'
import { catalog, fleet, orders, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { useLatest } from '../../kit/use-latest.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { isSame } from '../../kit/merge.ts'
import { AllowedFields, showDone, type T, type Undo, WorkButton } from '../kit/index.ts'
import { type Draft, draftOf, mergeDrafts, type VariantDraft, withTheirs, wordsOf } from './draft.ts'
import { CheckboxList, Chosen } from './checkbox-list.tsx'
import { useBack } from './paths.ts'
import classes from './products.module.css'
import { StaleNotice } from './stale-notice.tsx'
import { Translation } from './translation.tsx'
import { VariantDialog } from './variant-dialog.tsx'
import { VariantsTable } from './variants.tsx'
import { money } from '../../kit/money.ts'
import { gridStyle } from '../../kit/grid-style.ts'

type Around = { product: Product; groups: readonly ServerGroup[]; t: T }

/**
 * What saving does beyond the product itself: to prices on the platform, stock and orders. Empty if nothing.
 * @throws ApiError if the figures cannot be read
 */
async function consequencesOf(draft: Draft, { product, groups, t }: Around): Promise<string[]> {
  const lines: string[] = []
  const kept = new Map(draft.variants.flatMap(variant => (variant.id === undefined ? [] : [[variant.id, variant]])))
  const stops = product.variants.some(one => one.is_active && !kept.get(one.id)?.is_active)
  const hides = product.active && !draft.active
  const open =
    stops || hides
      ? await queryClient.fetchQuery({ ...read(orders.ofProduct, { params: { id: product.id } }), staleTime: 0 })
      : undefined
  const liveOf = (id: number) => open?.variants.find(one => one.id === id)?.live ?? 0
  if (hides) lines.push(t('products.willHide', { count: open?.live ?? 0 }))
  for (const variant of product.variants) {
    const name = variant.variant_name
    const next = kept.get(variant.id)
    if (!next) {
      lines.push(t('products.willGo', { name, count: liveOf(variant.id) }))
      continue
    }
    if (next.variant_price !== variant.variant_price)
      lines.push(t('products.willPrice', { name, was: money(variant.variant_price), is: money(next.variant_price) }))
    if (variant.is_active && !next.is_active) lines.push(t('products.willStop', { name, count: liveOf(variant.id) }))
    if (next.address_family !== variant.address_family)
      lines.push(t('products.willFamily', { name, family: t(`products.family.${next.address_family}`) }))
    if (next.server_group === (variant.server_group?.id ?? null)) continue
    if (next.server_group === null) {
      lines.push(t('products.willLeave', { name, was: variant.variant_stock }))
      continue
    }
    const query = { server_group: next.server_group, cart_step: variant.cart_step, address_family: next.address_family }
    const { stock } = await queryClient.fetchQuery(read(catalog.groupStock, { query }))
    const group = groups.find(one => one.id === next.server_group)?.name ?? String(next.server_group)
    lines.push(t('products.willMove', { name, group, was: variant.variant_stock, is: stock }))
  }
  return lines
}

type Props = {
  title: string
  /** The form's initial values. */
  start: Draft
  options: Product['variant_options']
  /** The saved product; undefined when adding one. */
  product?: Product
  /** Errors by field path, such as 'variants.0.proxy_time' for the first variant. */
  check: (draft: Draft) => Record<string, string>
  /** @returns the exact reversal, if there is one */
  save: (draft: Draft) => Promise<Undo | undefined>
  /** Called with the product that another user saved. `start` is then made from it. */
  onTheirs?: (current: Product) => void
  onDirty?: (dirty: boolean) => void
  /** Rendered above the variants: notes and further actions. */
  variantTools?: (tools: { variants: VariantDraft[]; add: (more: VariantDraft[]) => void }) => ReactNode
  notices?: ReactNode
}

type Meanwhile = Pick<ReturnType<typeof mergeDrafts>, 'taken' | 'clashes'> & {
  /** The form's former initial values. */
  before: Draft
}

const CHANGED = [catalog.products, catalog.priceDrift, orders.ofProduct, settings.health]

/** Adds or edits a product with its variants, in the list's place. */
export function Editor(props: Props) {
  const { title, start, options, product, check, save, onTheirs, onDirty, variantTools, notices } = props
  const t = useT()
  const back = useBack()
  const mayChange = useMay().mayCall(product ? catalog.updateProduct : catalog.createProduct)
  const [params, setParams] = useSearchParams()
  // When adding, the version covers the platform's product that the form starts from.
  const version = product?.version ?? JSON.stringify(start)
  const stored = useDraft(`product-${product?.id ?? 'new'}`, start, version)
  const [draft, setDraft] = useState({ ...start, ...stored.kept })
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState('')
  const [meanwhile, setMeanwhile] = useState<Meanwhile>()
  const [saving, setSaving] = useState(false)
  const latest = useLatest(draft)
  const dirty = !isSame(draft, start)
  const guard = useLeaveGuard(dirty, { keepsDraft: true })
  useKeptDraft(stored, { entered: dirty ? draft : {}, version, isUnsaved: guard.isUnsaved })
  // The draft does not contain what is entered in the open variant.
  const [variantDirty, setVariantDirty] = useState(false)
  useEffect(() => onDirty?.(dirty || variantDirty), [dirty, variantDirty, onDirty])
  const { data: groups } = useQuery(read(fleet.groups, { query: { limit: 10_000 } }))
  const { data: tags } = useQuery(read(catalog.tags, { query: { limit: 1000 } }))
  const { data: collections } = useQuery(read(catalog.collections, { query: { limit: 1000 } }))
  const { data: open } = useQuery({
    ...read(orders.ofProduct, { params: { id: product?.id ?? 0 } }),
    enabled: product !== undefined
  })
  const alert = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (failure) alert.current?.focus()
  }, [failure])

  const edit = (change: Partial<Draft>) => setDraft(now => ({ ...now, ...change }))
  const liveOf = (id: number | undefined) => open?.variants.find(one => one.id === id)?.live ?? 0
  const shownVariant = draft.variants.find(one => one.shopify_variant_id === params.get('variant'))
  const showVariant = (id: string | null) =>
    setParams(
      now => {
        if (id === null) now.delete('variant')
        else now.set('variant', id)
        return now
      },
      { preventScrollReset: true }
    )
  const errorsOf = (at: number) =>
    Object.fromEntries(
      Object.entries(errors).flatMap(([name, words]) => {
        const field = new RegExp(`^variants\\.${at}\\.(.+)$`).exec(name)?.[1]
        return field ? [[field, words]] : []
      })
    )
  const remove = async (variant: VariantDraft) => {
    const question = {
      title: t('list.deleteTitle'),
      body: t('products.deleteVariant', { name: variant.variant_name, count: liveOf(variant.id) }),
      danger: true
    }
    // A variant that was never saved needs no question.
    if (variant.id !== undefined && !(await confirm(question))) return
    edit({ variants: draft.variants.filter(one => one !== variant) })
    setErrors({})
  }
  const mergeSaved = (current: Product) => {
    const { draft: merged, taken, clashes } = mergeDrafts(start, latest.current, draftOf(current))
    setMeanwhile({ taken, clashes, before: start })
    setDraft(merged)
    onTheirs?.(current)
  }
  const submit = async () => {
    const found = check(draft)
    setErrors(found)
    setMeanwhile(undefined)
    setFailure('')
    if (Object.keys(found).length > 0) {
      // In the next frame, so that the same text is announced again.
      requestAnimationFrame(() => setFailure(t('products.wrong')))
      return
    }
    setSaving(true)
    try {
      const lines = product ? await consequencesOf(draft, { product, groups: groups?.data ?? [], t }) : []
      const question = { title: t('products.willTitle'), body: lines.join('\n'), danger: true }
      if (lines.length > 0 && !(await confirm(question))) return
      const undo = await save(draft)
      guard.release()
      showDone(undefined, { undo, what: draft.product_name, invalidate: CHANGED })
      back()
    } catch (error) {
      setErrors(fieldTexts(error))
      setFailure(failureText(error))
      if (error instanceof ApiError && error.refusal.current) mergeSaved(error.refusal.current as unknown as Product)
    } finally {
      setSaving(false)
    }
  }
  return (
    <div className="stack">
      <div className="row">
        <Button
          variant="default"
          size="sm"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
          onClick={() => void guard.mayLeave().then(yes => yes && back())}
        >
          {t('products.back')}
        </Button>
        <h2 className="breaks size-title" style={{ flex: 1, minWidth: '10rem' }}>
          {title}
        </h2>
        {mayChange && (
          <WorkButton working={saving} onClick={() => void submit()}>
            {t(product ? 'form.save' : 'form.add')}
          </WorkButton>
        )}
      </div>
      {failure && (
        <div ref={alert} role="alert" tabIndex={-1} className={`notice bad ${classes.alert}`}>
          <p>{failure}</p>
          {meanwhile && (
            <StaleNotice
              taken={meanwhile.taken}
              clashes={meanwhile.clashes}
              drafts={[draft, start, meanwhile.before]}
              names={{
                tags: (tags?.data ?? []).map(({ id, tag_name: name }) => ({ id, name })),
                collections: (collections?.data ?? []).map(({ id, collection_name: name }) => ({ id, name })),
                groups: groups?.data ?? []
              }}
              onTake={clash => {
                setDraft(withTheirs(draft, start, clash))
                setMeanwhile({ ...meanwhile, clashes: meanwhile.clashes.filter(one => one !== clash) })
              }}
            />
          )}
        </div>
      )}
      {notices}
      <AllowedFields allowed={mayChange} className={`card panel ${classes.panel}`}>
        <div className="start" style={gridStyle('26rem', '1rem 1.5rem', 'auto-fit')}>
          <div className="stack">
            <TextInput
              label={t('products.product_name')}
              withAsterisk
              autoComplete="off"
              value={draft.product_name}
              error={errors['product_name']}
              onChange={event => edit({ product_name: event.currentTarget.value })}
            />
            <Checkbox
              label={t('products.active')}
              checked={draft.active}
              onChange={event => edit({ active: event.currentTarget.checked })}
            />
          </div>
          <Textarea
            label={t('products.product_desc')}
            rows={6}
            value={draft.product_desc}
            error={errors['product_desc']}
            onChange={event => edit({ product_desc: event.currentTarget.value })}
          />
          {product ? (
            <Chosen
              label={t('products.collection')}
              hint={t('products.collectionsFixed')}
              names={product.product_collections.map(({ collection_name }) => collection_name)}
            />
          ) : (
            <CheckboxList
              label={t('products.collection')}
              options={collections?.data.map(({ id, collection_name }) => ({ id, name: collection_name }))}
              chosen={draft.product_collections}
              onChange={product_collections => edit({ product_collections })}
            />
          )}
          <CheckboxList
            label={t('products.tags')}
            options={tags?.data.map(({ id, tag_name }) => ({ id, name: tag_name }))}
            chosen={draft.product_tags}
            onChange={product_tags => edit({ product_tags })}
          />
        </div>
        <Translation
          translation={draft.translation}
          words={wordsOf(draft, options)}
          errors={errors}
          onChange={translation => edit({ translation })}
        />
      </AllowedFields>
      <section className="stack" aria-label={t('products.variants')}>
        <div className="row between" style={{ gap: '0.5rem 1rem' }}>
          <h3 className="size-lead">{t('products.variants')}</h3>
          {mayChange &&
            variantTools?.({
              variants: draft.variants,
              add: more => edit({ variants: [...draft.variants, ...more] })
            })}
        </div>
        {errors['variants'] && <p className="bad size-table">{errors['variants']}</p>}
        <VariantsTable
          variants={draft.variants}
          product={product}
          groups={groups?.data ?? []}
          errorsOf={errorsOf}
          dirty={dirty}
          mayChange={mayChange}
          onEdit={variant => showVariant(variant.shopify_variant_id)}
          onRemove={variant => void remove(variant)}
        />
      </section>
      {mayChange && shownVariant && groups && (
        <VariantDialog
          key={shownVariant.shopify_variant_id}
          variant={shownVariant}
          saved={product?.variants.find(one => one.id === shownVariant.id)}
          groups={groups.data}
          live={liveOf(shownVariant.id)}
          errors={errorsOf(draft.variants.indexOf(shownVariant))}
          unsaved={dirty || variantDirty}
          onDirty={setVariantDirty}
          onClose={() => showVariant(null)}
          onApply={next => {
            edit({ variants: draft.variants.map(one => (one === shownVariant ? next : one)) })
            setErrors({})
            showVariant(null)
          }}
        />
      )}
    </div>
  )
}
