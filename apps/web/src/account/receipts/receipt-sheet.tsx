import type { Receipt, Receipts } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import type { ReactNode } from 'react'
import { useLanguage } from '../../i18n/language.ts'
import { useNames, type Names } from '../../i18n/names.ts'
import { useT } from '../../i18n/receipts.ts'
import { useBrand } from '../../kit/brand.tsx'
import { moneyIn } from '../../kit/money.ts'
import { momentText } from '../../kit/time.tsx'
import classes from './receipts.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

type Line = { title: string; variant: string | null; quantity: number; unit: string | null; amount: string }

/** One payment, printed on its own sheet. */
export function ReceiptSheet({ order, receipt }: { order: Receipts; receipt: Receipt }) {
  const t = useT()
  const language = useLanguage()
  const { logo } = useBrand()
  const names = namesOf(useNames(), order)
  const amount = (text: string) => moneyIn(text, receipt.currency)
  const net = fromCents(toCents(receipt.total) - toCents(receipt.refunded))
  const lines = linesOf(order, names, t('rule'), receipt)
  const other = otherOf(lines, receipt)
  const title = `${t('receipt')} ${receipt.platform_order}`
  return (
    <article className={`card stack ${classes.sheet}`} style={{ gap: '1.5rem' }} aria-label={title}>
      <header className="row stretch between" style={{ gap: '0.5rem 2rem' }}>
        <div>
          <strong className="row unwrapped size-title" style={{ gap: '0.55rem', marginBottom: '0.25rem' }}>
            <img src={logo ?? '/icon.svg'} alt="" width={24} height={24} /> {order.shop}
          </strong>
          <p>{t(receipt.kind)}</p>
        </div>
        <h2 className="size-title">{title}</h2>
      </header>
      <dl className="breaks" style={gridStyle('12rem', '0.9rem 1.5rem', 'auto-fit')}>
        <Fact title={t('billed')}>
          {order.username}
          <br />
          {order.email}
        </Fact>
        <Fact title={t('issued')}>
          <time dateTime={receipt.paid_at}>{momentText(receipt.paid_at, language)}</time>
        </Fact>
        <Fact title={t('number')}>
          <span className="mono">{receipt.platform_order}</span>
        </Fact>
        <Fact title={t('orderNumber')}>
          <span className="mono">{order.order_id}</span>
        </Fact>
        {receipt.days !== null && <Fact title={t('for')}>{receipt.days}</Fact>}
      </dl>
      <table className={classes.lines}>
        <thead>
          <tr>
            <th scope="col">{t('item')}</th>
            <th scope="col">{t('quantity')}</th>
            <th scope="col">{t('unit')}</th>
            <th scope="col">{t('amount')}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) => (
            <tr key={index}>
              <th scope="row">
                {line.title}
                {line.variant && <span> · {line.variant}</span>}
              </th>
              <td>{line.quantity}</td>
              <td>{line.unit === null ? '–' : amount(line.unit)}</td>
              <td>{amount(line.amount)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {toCents(receipt.discount) > 0n && <Sum title={t('discount')}>{amount(`-${receipt.discount}`)}</Sum>}
          {other !== 0n && <Sum title={t(other > 0n ? 'added' : 'taken')}>{amount(fromCents(other))}</Sum>}
          <Sum title={t('total')} strong>
            {amount(receipt.total)}
          </Sum>
          {receipt.refunds.map(refund => (
            <Sum key={refund.at} title={t('refund', { day: momentText(refund.at, language) })}>
              {amount(`-${refund.amount}`)}
            </Sum>
          ))}
          {receipt.refunds.length > 0 && (
            <Sum title={t('net')} strong>
              {amount(net)}
            </Sum>
          )}
        </tfoot>
      </table>
      {names.acl_names.length > 0 && <p className="dim">{t('rules', { rules: names.acl_names.join(', ') })}</p>}
    </article>
  )
}

type OrderNames = ReturnType<Names['order']>

const namesOf = (names: Names, { product, variant, rules, translations }: Receipts): OrderNames =>
  names.order({ product_name: product, variant_name: variant, acl_names: rules, translations })

/** The platform's lines, translated if they name the order's plan or rules. Old payments show the order itself. */
function linesOf(order: Receipts, names: OrderNames, rule: string, { lines, total, discount }: Receipt): Line[] {
  const said = new Map<string, string>([
    ...order.rules.map((rule, at) => [rule, names.acl_names[at] ?? rule] as const),
    [order.variant, names.variant_name],
    [order.product, names.product_name]
  ])
  const say = (words: string) => said.get(words) ?? words
  if (lines.length > 0)
    return lines.map(({ unit_price: unit, title, variant, ...line }) => ({
      ...line,
      unit,
      // The platform sells rules as variants of another product. A plan's own variant may have a rule's name.
      title: variant !== null && title !== order.product && order.rules.includes(variant) ? rule : say(title),
      variant: variant === null ? null : say(variant)
    }))
  const amount = fromCents(toCents(total) + toCents(discount))
  const variant = order.variant === order.product ? null : names.variant_name
  return [{ title: names.product_name, variant, quantity: order.quantity, unit: null, amount }]
}

/** What the platform charged besides the lines less the discount, in cents. */
const otherOf = (lines: readonly Line[], { total, discount }: Receipt): bigint =>
  toCents(total) + toCents(discount) - lines.reduce((sum, line) => sum + toCents(line.amount), 0n)

const Fact = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <dt className="dim">{title}</dt>
    <dd>{children}</dd>
  </div>
)

const Sum = ({ title, strong = false, children }: { title: string; strong?: boolean; children: ReactNode }) => (
  <tr data-strong={strong || undefined}>
    <th scope="row" colSpan={3}>
      {title}
    </th>
    <td>{children}</td>
  </tr>
)
