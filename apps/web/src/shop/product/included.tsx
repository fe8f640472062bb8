import type { Variant } from '@netlet/contract'
import { IconCheck } from '@tabler/icons-react'
import { useT } from '../../i18n/product.ts'
import { numberText } from '../../kit/number.ts'
import classes from './included.module.css'

const FACTS = ['product.fact1', 'product.fact2', 'product.fact4', 'product.fact3', 'product.fact5'] as const

/** What a plan includes: its figures, then what all plans include. */
export function Included({ variant }: { variant: Variant }) {
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
