import { Skeleton } from '@mantine/core'
import { toCents } from '@netlet/contract/money'
import { useT } from '../../i18n/product.ts'
import { money, numberText } from '../../kit/money.ts'
import { expectedCharge, useLevelDiscount, useLevelWords } from '../../kit/level-price.tsx'
import { type Choice, presets, total, withRules } from './choice.ts'
import classes from './price-table.module.css'

/** Largest number of rows, plus one for the chosen quantity. */
const ROWS = 6

type Column = { key: string; title: string; price: string }

/** A plan's prices by quantity and access rules. An order needs at least one rule. */
export function PriceTable({ choice }: { choice: Choice }) {
  const t = useT()
  const { variant, offered, info, quantity, limit, isSoldOut } = choice
  const discount = useLevelDiscount()
  const { named } = useLevelWords()
  const days = variant.proxy_time
  if (isSoldOut) return null
  const rows = [
    ...new Set([...presets(variant.cart_step, Math.min(variant.variant_stock, limit)).slice(0, ROWS), quantity])
  ]
  rows.sort((one, other) => one - other)
  const columns = offered && columnsOf(choice, t)
  if (columns?.length === 0) return null
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">{t('prices.title')}</h2>
      <p className="dim">
        {discount ? t('prices.leadLevel', { days, ...named(discount) }) : t('prices.lead', { days })}
      </p>
      {columns ? (
        <div className={classes.prices} tabIndex={0} role="group" aria-labelledby="prices">
          <table>
            <thead>
              <tr>
                <th scope="col">{t('prices.quantity')}</th>
                {columns.map(({ key, title, price }) => (
                  <th key={key} scope="col" data-own={key === 'yours' || undefined}>
                    {title}
                    <span className="num dim">{t('prices.each', { price: money(price) })}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="num">
              {rows.map(count => (
                <tr key={count} aria-current={count === quantity || undefined}>
                  <th scope="row">{numberText(count)}</th>
                  {columns.map(({ key, price }) => (
                    <td key={key} data-own={(key === 'yours' && info !== null) || undefined}>
                      {money(expectedCharge(total(price, count), discount))}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <Skeleton height={`${rows.length * 2.4 + 3.6}rem`} mt="sm" />
      )}
    </section>
  )
}

/** The price of one address with the cheapest rule, with the confirmed rules, and with all rules in stock. */
function columnsOf({ variant, offered = [], info }: Choice, t: ReturnType<typeof useT>): Column[] {
  const rules = offered.filter(rule => rule.stock >= variant.cart_step)
  const cheapest = rules.toSorted((one, other) => Number(toCents(one.price) - toCents(other.price)))[0]
  const base = variant.variant_price
  const columns: Column[] = []
  if (cheapest) columns.push({ key: 'one', title: t('prices.one'), price: withRules(base, [cheapest]) })
  if (info) columns.push({ key: 'yours', title: t('prices.yours'), price: info.price })
  if (rules.length > 1) columns.push({ key: 'all', title: t('prices.all'), price: withRules(base, rules) })
  return columns
}
