import { html, nothing, page, type Html } from '../kit/html.ts'
import { toCents, toMoney } from '../kit/money.ts'
import type { PricedCheckout } from './pricing.ts'
import type { Checkout, PlatformOrder } from './state.ts'

const NOTICE = 'A stand-in shop platform. No money moves here.'

type Sums = Pick<PricedCheckout, 'lines' | 'linesPrice' | 'discounts' | 'totalPrice'>

function summary(sums: Sums): Html {
  return html`<table>
    <tbody>
      ${sums.lines.map(
        line =>
          html`<tr>
            <td>
              ${line.title}<br /><span class="quiet small"
                >${line.variantTitle} · ${line.quantity} × $${line.price}</span
              >
            </td>
            <td>$${toMoney(toCents(line.price) * line.quantity)}</td>
          </tr>`
      )}
      <tr>
        <td>Subtotal</td>
        <td>$${sums.linesPrice}</td>
      </tr>
      ${sums.discounts.map(
        one =>
          html`<tr>
            <td>Discount <code>${one.code}</code></td>
            <td>−$${one.amount}</td>
          </tr>`
      )}
      <tr class="total">
        <td>Total</td>
        <td>$${sums.totalPrice} <span class="quiet small">USD</span></td>
      </tr>
    </tbody>
  </table>`
}

const WHY_NOT = {
  ended: 'does not count now',
  used_up: 'was used already',
  used_by_you: 'was used by this e-mail address already',
  for_others: 'is for another e-mail address',
  too_few: 'needs more in the cart',
  alone: 'cannot be used with another code'
} as const

export function checkoutPage(checkout: Checkout, priced: PricedCheckout): string {
  const unknown = priced.unknownCodes.map(
    code => html`<p class="bad small">The code <code>${code}</code> is not valid and was left out.</p>`
  )
  const refused = priced.refusedCodes.map(
    ({ code, why }) => html`<p class="bad small">The code <code>${code}</code> ${WHY_NOT[why]}.</p>`
  )
  return page(
    'Checkout',
    NOTICE,
    html`<h1>Checkout</h1>
      <div class="two">
        <section class="card" aria-labelledby="order">
          <h2 id="order">Your order</h2>
          ${summary(priced)}${unknown}${refused}
        </section>
        <section class="card" aria-labelledby="pay">
          <h2 id="pay">Contact and payment</h2>
          <form method="post" action="/checkouts/${checkout.token}/pay">
            <label for="email">Email</label>
            <input id="email" name="email" type="email" autocomplete="email" required value="${checkout.email}" />
            <label for="gift_card">Paid by a gift card, in $ (empty: nothing)</label>
            <input
              id="gift_card"
              name="gift_card"
              inputmode="decimal"
              pattern="[0-9]{1,9}([.][0-9]{1,2})?"
              autocomplete="off"
            />
            <label>
              <input type="checkbox" name="loses_attributes" value="yes" />
              By a wallet that loses the cart’s attributes
            </label>
            ${checkout.note === '' ? nothing : html`<p class="quiet small">Note: ${checkout.note}</p>`}
            <button type="submit">Pay $${priced.totalPrice}</button>
          </form>
          <p class="quiet small">
            The button pays at once, and the shop hears of it as it would from the real platform.
          </p>
          <form method="post" action="/checkouts/${checkout.token}/codes">
            <label for="code">Discount code</label>
            <input id="code" name="code" maxlength="255" autocomplete="off" required />
            <button type="submit">Apply</button>
          </form>
          <p class="quiet small">A code that is for one customer counts for that e-mail address only.</p>
        </section>
      </div>`
  )
}

export function thankYouPage(order: PlatformOrder, shopUrl: string): string {
  return page(
    `Order #${order.number}`,
    NOTICE,
    html`<h1>Thank you, order #${order.number} is paid</h1>
      <div class="two">
        <section class="card" aria-labelledby="order">
          <h2 id="order">What you bought</h2>
          ${summary(order)}
        </section>
        <section class="card">
          <h2>What happens now</h2>
          <p>
            A receipt belongs to <strong>${order.email}</strong>. Your proxies are being set up and appear in the shop
            in a moment.
          </p>
          <a class="button" href="${shopUrl}/dashboard/index/proxies">Back to the shop</a>
        </section>
      </div>`
  )
}

export function problemPage(title: string, text: string): string {
  return page(
    title,
    NOTICE,
    html`<h1>${title}</h1>
      <div class="card"><p>${text}</p></div>`
  )
}
