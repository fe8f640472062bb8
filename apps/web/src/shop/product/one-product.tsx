import { Button, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { Product, Variant } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import { IconArrowLeft, IconCheck, IconExternalLink, IconWorld } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { countryName, flagOf } from '../../kit/country.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { gridStyle } from '../../kit/grid-style.ts'
import { numberText } from '../../kit/money.ts'
import { Facts } from '../../kit/payment/facts.tsx'
import { type Pending, useHeldUntil } from '../../kit/payment/pending.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { activeVariants, Stock, stockOf } from '../stock.tsx'
import { AclDialog } from './acl-dialog.tsx'
import { useProductPath } from './asked-rules.tsx'
import { MOST_ADDRESSES, useChoice, wholeSteps } from './choice.ts'
import classes from './one-product.module.css'
import { OrderBox } from './order-box.tsx'
import { PriceTable } from './price-table.tsx'
import { fromOf } from '../from-price.tsx'
import { placeOption } from './filter-products.ts'
import { ProductCard, ProductPicture } from './product-card.tsx'
import otherPlansClasses from './product.module.css'
import unpaidDialogClasses from './purchase.module.css'
import { Purchase } from './purchase.tsx'
import { usePurchase } from './use-purchase.ts'

/** Milliseconds between polls of a plan without stock. */
const SOLD_OUT_LOOK = 30_000

type Props = {
  /** Undefined if the address has an impossible id. */
  id: number | undefined
  collection: number | undefined
  onOrdered: (payment: { pending: Pending; blocked: boolean }) => void
}

export function OneProduct({ id, collection, onOrdered }: Props) {
  const t = useT()
  const pathTo = useProductPath()
  const { data, isPending, error, refetch } = useQuery({
    ...read(catalog.products, { query: { id, limit: 1 } }),
    enabled: id !== undefined,
    // A sold-out plan may get stock again at any time.
    refetchInterval: ({ state }) => (state.data?.data.some(one => stockOf(one) === 0) ? SOLD_OUT_LOOK : false)
  })
  const product = data?.data[0]
  return (
    <>
      <Link to={pathTo({ collection })} className={classes.back}>
        <IconArrowLeft size={17} aria-hidden /> {t('product.back')}
      </Link>
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending && id !== undefined ? (
        <div className={classes.columns} aria-busy>
          <div className="stack">
            <Skeleton height={46} width="60%" />
            <Skeleton height={23} width="40%" />
            <Skeleton height={170} radius="md" />
          </div>
          <Skeleton height={785} radius="md" />
        </div>
      ) : product && activeVariants(product).length > 0 ? (
        <View product={product} onOrdered={onOrdered} />
      ) : (
        <div className="card" style={{ minHeight: '80vh' }}>
          <EmptyState title={t('product.gone')} body={t('product.goneHint')}>
            <Button component={Link} to={pathTo({ collection })} variant="default">
              {t('product.back')}
            </Button>
          </EmptyState>
        </div>
      )}
    </>
  )
}

function View({ product, onOrdered }: { product: Product } & Pick<Props, 'onOrdered'>) {
  const [dialog, setDialog] = useState(false)
  const phone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const choice = useChoice(product)
  const openDialog = () => setDialog(true)
  const purchase = usePurchase({ product, choice, onOrdered, onRulesMissing: openDialog })
  const { variant } = choice
  const names = useNames()
  const name = names.product(product)
  const desc = names.text(product, product.product_desc, 'desc')
  useTitle(name)
  return (
    <>
      <div className={classes.columns}>
        <div className={`stack ${classes.head}`}>
          <h1>{name}</h1>
          <p className="dim">{product.product_tags.map(names.tag).join(' · ')}</p>
          <div className="card" style={{ overflow: 'hidden' }}>
            <ProductPicture product={product} caption />
          </div>
          {desc && <Description text={desc} />}
        </div>
        <div className={classes.box}>
          <OrderBox
            product={product}
            choice={choice}
            purchase={purchase}
            withoutTotal={phone}
            onSelectRules={openDialog}
          />
        </div>
        <div className={classes.details}>
          <Locations product={product} />
          <Included variant={variant} />
          <PriceTable choice={choice} />
        </div>
      </div>
      <OtherPlans product={product} />
      {phone && (
        <div className={classes.bar}>
          <Purchase product={product} choice={choice} purchase={purchase} />
        </div>
      )}
      {purchase.offer && <UnpaidDialog {...purchase.offer} />}
      {dialog && (
        <AclDialog
          product={product}
          options={choice.options}
          basePrice={variant.variant_price}
          family={variant.address_family}
          step={variant.cart_step}
          quantity={wholeSteps(choice.wanted, variant.cart_step, MOST_ADDRESSES)}
          chosen={choice.suggested}
          onClose={() => setDialog(false)}
          onConfirmed={ids => {
            choice.lock(ids)
            setDialog(false)
          }}
        />
      )}
    </>
  )
}

const POINT = /^\s*[•*–-]\s+/

/** A product's description. Lines that start with a bullet become a list. */
export function Description({ text }: { text: string }) {
  return (
    <div className={classes.desc}>
      {partsOf(text).map(({ points, lines }, index) =>
        points ? (
          <ul key={index}>
            {lines.map((line, at) => (
              <li key={at}>{line.replace(POINT, '')}</li>
            ))}
          </ul>
        ) : (
          <p key={index}>{lines.join('\n')}</p>
        )
      )}
    </div>
  )
}

type Part = { points: boolean; lines: string[] }

/** Groups consecutive lines of the same kind. Empty lines end a group. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let ended = true
  for (const line of text.split(/\r?\n/)) {
    if (!line.trim()) {
      ended = true
      continue
    }
    const points = POINT.test(line)
    const last = parts.at(-1)
    if (last && !ended && last.points === points) last.lines.push(line)
    else parts.push({ points, lines: [line] })
    ended = false
  }
  return parts
}

const FACTS = ['product.fact1', 'product.fact2', 'product.fact4', 'product.fact3', 'product.fact5'] as const

/** What a plan includes: its figures, then what all plans include. */
function Included({ variant }: { variant: Variant }) {
  const t = useT()
  return (
    <section aria-labelledby="included">
      <h2 id="included">{t('product.included')}</h2>
      <dl className={classes.figures}>
        {figuresOf(variant, t).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="num">{value}</dd>
          </div>
        ))}
      </dl>
      <ul className={classes.facts}>
        {[...FACTS, ...(variant.https ? (['product.factHttps'] as const) : [])].map(fact => (
          <li key={fact}>
            <IconCheck size={17} aria-hidden />
            <span>{t(fact)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function figuresOf(variant: Variant, t: ReturnType<typeof useT>): [string, string][] {
  const { address_family, egress, proxy_time, traffic_gb, mbps, connections, connections_per_second } = variant
  const limits: [string, string | null][] = [
    [t('order.connections'), connections === null ? null : numberText(connections)],
    [t('order.connections_per_second'), connections_per_second === null ? null : numberText(connections_per_second)]
  ]
  return [
    [t('address.kind'), t(address_family === 'ipv6' ? `address.ipv6.${egress}` : 'address.ipv4')],
    [t('order.term'), t('order.days', { days: proxy_time })],
    [
      t('order.traffic'),
      traffic_gb === null ? t('order.unlimited') : t('order.gigabytes', { count: numberText(traffic_gb) })
    ],
    [t('order.speed'), mbps === null ? t('order.unlimited') : t('order.mbps', { count: numberText(mbps) })],
    ...limits.filter((limit): limit is [string, string] => limit[1] !== null)
  ]
}

/** A plan's locations from its location option, with a flag if the name contains a country. */
function Locations({ product }: { product: Product }) {
  const t = useT()
  const language = useLanguage()
  const { word } = useNames()
  const variants = activeVariants(product)
  const option = placeOption(product)
  if (!option) return null
  const key = `variant_${option.name}` as const
  const stockIn = (place: string) =>
    Math.max(...variants.filter(variant => variant[key] === place).map(variant => variant.variant_stock))
  return (
    <section aria-labelledby="locations">
      <h2 id="locations">{t('product.locations')}</h2>
      <ul className={classes.locations} style={gridStyle('19rem', '0.5rem')}>
        {option.values.map(place => {
          const country = countryIn(place)
          const flag = country && flagOf(country)
          const called = word(product, place)
          const name = country && countryName(country, language)
          return (
            <li key={place}>
              {flag ? (
                <img className="flag" src={flag} alt="" width={24} height={16} />
              ) : (
                <IconWorld size={20} aria-hidden />
              )}
              <span>
                <strong>{called}</strong> {name && !called.includes(name) && <small className="dim">{name}</small>}
              </span>
              <Stock count={stockIn(place)} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const MOST = 3

/** Plans that share a tag: those in stock first, then by the number of shared tags. */
function OtherPlans({ product }: { product: Product }) {
  const t = useT()
  const tags = product.product_tags.map(tag => tag.id)
  const { data } = useQuery({
    ...read(catalog.recommended, { query: { tags: tags.join(',') } }),
    enabled: tags.length > 0
  })
  const shared = (other: Product) => other.product_tags.filter(tag => tags.includes(tag.id)).length
  const others = data
    ?.filter(other => other.id !== product.id)
    .toSorted((a, b) => Number(stockOf(b) > 0) - Number(stockOf(a) > 0) || shared(b) - shared(a))
    .slice(0, MOST)
  if (!others?.length) return null
  return (
    <section aria-labelledby="others" className={otherPlansClasses.others}>
      <h2 id="others">{t('product.others')}</h2>
      <ul style={gridStyle('19rem')}>
        {others.map(other => (
          <ProductCard key={other.id} product={other} price={fromOf(other)} collection={undefined} level={3} />
        ))}
      </ul>
    </section>
  )
}

type UnpaidDialogProps = { pending: Pending; onPay: () => void; onAnother: () => void; onClose: () => void }

/** Offers an unpaid order of the same choice before another is placed. */
function UnpaidDialog({ pending, onPay, onAnother, onClose }: UnpaidDialogProps) {
  const t = useT()
  const held = useHeldUntil(pending.deadline)
  return (
    <Dialog onClose={onClose} title={t('unpaid.title')}>
      <div className="stack">
        <p>{t('unpaid.body', held)}</p>
        <Facts pending={pending} />
        <div className={unpaidDialogClasses.choices}>
          <Button
            component="a"
            href={pending.checkoutUrl}
            target="_blank"
            rel="noopener"
            rightSection={<IconExternalLink size={16} aria-hidden />}
            data-autofocus
            onClick={onPay}
          >
            {t('unpaid.pay')}
          </Button>
          <Button variant="default" onClick={onAnother}>
            {t('unpaid.another')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
