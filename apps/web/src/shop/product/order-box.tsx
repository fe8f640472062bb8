import type { Product } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconLock, IconShieldCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { useT } from '../../i18n/index.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { Stock } from '../stock.tsx'
import { AclDialog } from './acl-dialog.tsx'
import { total } from './choice.ts'
import { OptionPicker } from './option-picker.tsx'
import { Quantity } from './quantity.tsx'
import { useChoice } from './use-choice.ts'
import { usePurchase, type Ordered } from './use-purchase.ts'
import classes from './order-box.module.css'

/** From the choice of a plan to the order: options, access rules, quantity, price. */
export function OrderBox({ product, onOrdered }: { product: Product; onOrdered: (ordered: Ordered) => void }) {
  const t = useT()
  const [dialog, setDialog] = useState(false)
  const choice = useChoice(product)
  const { variant, options, info, rules, quantity } = choice
  const purchase = usePurchase({ product, choice, onOrdered, onRulesMissing: () => setDialog(true) })
  const price = info?.price ?? variant.variant_price
  const stock = info?.stock ?? variant.variant_stock

  return (
    <section className={`card ${classes.box}`} aria-label={t('order.title')}>
      <OptionPicker product={product} options={options} locked={Boolean(info)} onPick={choice.pickOption} />
      {variant.variant_desc && !Object.values(options).includes(variant.variant_desc) && (
        <p className="dim">{variant.variant_desc}</p>
      )}

      <div className={classes.line}>
        <div>
          <h2>{t('acl.title')}</h2>
          <p className="dim">{info ? t('acl.chosen', { count: rules.length }) : t('acl.hint')}</p>
        </div>
        <Button
          variant="default"
          leftSection={<IconShieldCheck size={18} aria-hidden />}
          onClick={() => setDialog(true)}
        >
          {info ? t('acl.edit') : t('acl.select')}
        </Button>
      </div>
      {info && (
        <div className={classes.locked}>
          <IconLock size={16} aria-hidden />
          <span>{t('acl.locked')}</span>
          <button type="button" onClick={choice.unlock}>
            {t('acl.change')}
          </button>
        </div>
      )}

      <div className={classes.line}>
        <div>
          <h2 id="quantity">{t('quantity.title')}</h2>
          <p className="dim">{t('quantity.step', { step: variant.cart_step })}</p>
        </div>
        <Quantity value={quantity} step={variant.cart_step} stock={stock} onChange={choice.setQuantity} />
      </div>

      <dl className={classes.sums}>
        <div>
          <dt>{t('product.stock')}</dt>
          <dd>
            <Stock count={stock} />
          </dd>
        </div>
        <div>
          <dt>{t('order.perIp')}</dt>
          <dd className="num">
            {money(price)}
            {info && (
              <span className="dim">
                {' '}
                ({money(info.base_price)} + {money(info.acl_price)})
              </span>
            )}
          </dd>
        </div>
        <div>
          <dt>{t('order.term')}</dt>
          <dd className="num">{t('order.days', { days: variant.proxy_time })}</dd>
        </div>
        <div>
          <dt>{t('address.kind')}</dt>
          <dd>{t(variant.address_family === 'ipv6' ? `address.ipv6.${variant.egress}` : 'address.ipv4')}</dd>
        </div>
        {limitsOf(variant, t).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="num">{value}</dd>
          </div>
        ))}
        <div className={classes.total}>
          <dt>{t('order.total')}</dt>
          <dd className="num" aria-live="polite">
            {money(total(price, quantity))}
          </dd>
        </div>
      </dl>
      <Button size="md" fullWidth loading={purchase.pending} onClick={purchase.start}>
        {t('purchase')}
      </Button>
      <p className={`dim ${classes.small}`}>{t('order.final')}</p>

      {dialog && (
        <AclDialog
          product={product}
          options={options}
          basePrice={variant.variant_price}
          family={variant.address_family}
          step={variant.cart_step}
          chosen={rules}
          onClose={() => setDialog(false)}
          onConfirmed={(ids, confirmed) => {
            choice.lock(ids, confirmed)
            setDialog(false)
          }}
        />
      )}
    </section>
  )
}

/** What the plan limits, as facts. */
function limitsOf(variant: Product['variants'][number], t: ReturnType<typeof useT>): [string, string][] {
  const { traffic_gb, mbps, connections, connections_per_second } = variant
  const facts: [string, string | null][] = [
    [t('order.traffic'), traffic_gb === null ? null : t('order.gigabytes', { count: numberText(traffic_gb) })],
    [t('order.speed'), mbps === null ? null : t('order.mbps', { count: numberText(mbps) })],
    [t('order.connections'), connections === null ? null : numberText(connections)],
    [t('order.connections_per_second'), connections_per_second === null ? null : numberText(connections_per_second)]
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}
