import type { PlatformProduct } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { Button, Skeleton, TextInput } from '@mantine/core'
import { IconArrowLeft, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import '../kit/styles.ts'
import { ApiError, call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, wordsOf } from '../../i18n/failures.ts'
import { rules } from '../../kit/form.ts'
import { money } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { ProductForm } from '../../kit/schemas.ts'
import { EmptyState } from '../../kit/states.tsx'
import { createBody, draftOfPlatform } from './draft.ts'
import { Editor } from './editor.tsx'
import { useBack } from './paths.ts'

const checkForm = rules(ProductForm)
/** Milliseconds. The platform is queried for all its products. */
const TIMEOUT = 60_000

/** Adds one of the platform's products. Loads their list first. */
export function AddProduct() {
  const t = useT()
  const back = useBack()
  const [params, setParams] = useSearchParams()
  const { data, error } = useQuery({
    ...read(catalog.platformProducts, { query: {} }, { timeout: TIMEOUT }),
    staleTime: Infinity,
    gcTime: 0
  })
  // Keep the chosen product stable until it is added, even if the platform fails or another operator adds it.
  const wanted = params.get('product')
  const [chosen, setChosen] = useState<PlatformProduct>()
  const found = data?.find(product => product.shopify_product_id === wanted)
  const source = chosen?.shopify_product_id === wanted ? chosen : found
  if (source !== chosen) setChosen(source)
  useEffect(() => {
    if (!error || data) return
    // If no platform is configured, the refusal says what to do.
    const own = error instanceof ApiError && error.refusal.reason === 'platform_not_configured'
    const failed = wordsOf('product_fetch_failed') ?? 'Failed to obtain data, please try again'
    notify('bad', own ? failureText(error) : failed)
    back({ replace: true })
    // oxlint-disable-next-line react/exhaustive-deps -- report it once
  }, [error])
  if (!data)
    return (
      <div role="status" aria-label={t('products.fetching')} className="stack">
        <p className="dim">{t('products.fetching')}</p>
        <Skeleton height={320} />
      </div>
    )
  if (!source)
    return (
      <Choose products={data} onChoose={product => setParams({ product: product.shopify_product_id })} onBack={back} />
    )
  return (
    <Editor
      key={source.shopify_product_id}
      title={source.product_name}
      start={draftOfPlatform(source)}
      options={source.variant_options}
      check={draft => checkForm(createBody(draft, source))}
      save={async draft => {
        await call(catalog.createProduct, { body: createBody(draft, source) }, { timeout: TIMEOUT })
        void refresh(catalog.products)
      }}
    />
  )
}

type ChooseProps = {
  products: readonly PlatformProduct[]
  onChoose: (product: PlatformProduct) => void
  onBack: () => void
}

function Choose({ products, onChoose, onBack }: ChooseProps) {
  const t = useT()
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const found = products.filter(product => product.product_name.toLowerCase().includes(wanted))
  return (
    <div className="stack">
      <div className="row">
        <Button
          variant="default"
          size="sm"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
          onClick={() => onBack()}
        >
          {t('products.back')}
        </Button>
        <h2 className="breaks size-title" style={{ flex: 1, minWidth: '10rem' }}>
          {t('products.choose')}
        </h2>
        <TextInput
          type="search"
          aria-label={t('products.search')}
          placeholder={t('products.search')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={event => setSearch(event.currentTarget.value)}
        />
      </div>
      <div className="card">
        {found.length === 0 ? (
          <EmptyState
            title={t(products.length === 0 ? 'products.allAdded' : 'products.noMatch')}
            body={t(products.length === 0 ? 'products.allAddedHint' : 'products.noMatchHint')}
          />
        ) : (
          <ul
            className="stack ruled"
            style={{ gap: 0, maxHeight: '60vh', overflow: 'auto' }}
            aria-label={t('products.choose')}
            tabIndex={0}
          >
            {found.map(product => (
              <li
                key={product.shopify_product_id}
                className="row between"
                style={{ gap: '0.4rem 1rem', padding: '0.6rem 1rem' }}
              >
                <span className="stack" style={{ gap: 0 }}>
                  <strong>{product.product_name}</strong>
                  <small className="dim">
                    {t('products.choice', { count: product.variants.length, price: lowest(product) })}
                  </small>
                </span>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`${t('products.take')}: ${product.product_name}`}
                  onClick={() => onChoose(product)}
                >
                  {t('products.take')}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

const lowest = ({ variants }: PlatformProduct): string => {
  const prices = variants.map(variant => toCents(variant.variant_price))
  return money(fromCents(prices.reduce((low, price) => (price < low ? price : low), prices[0] ?? 0n)))
}
