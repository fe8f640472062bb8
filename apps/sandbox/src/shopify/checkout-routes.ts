import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, html, type Html, nothing, page, sendPage, toCents, toMoney } from '../kit/http.ts'
import { type Checkouts, readPermalink } from './checkout.ts'
import { priceCheckout, type PricedCheckout } from './pricing.ts'
import type { Checkout, PlatformOrder, PlatformState } from './state.ts'

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

function checkoutPage(checkout: Checkout, priced: PricedCheckout): string {
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

function thankYouPage(order: PlatformOrder, shopUrl: string): string {
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

function problemPage(title: string, text: string): string {
  return page(
    title,
    NOTICE,
    html`<h1>${title}</h1>
      <div class="card"><p>${text}</p></div>`
  )
}

const GiftCard = z.string().regex(/^\d{1,9}(\.\d{1,2})?$/)

const gone = problemPage(
  'This checkout does not exist',
  'It may be very old. Go back to the shop and place the order again.'
)
const notForSale = problemPage(
  'Something in this cart is not for sale',
  'The shop’s catalogue has changed. Go back to the shop and choose again.'
)

const paused = problemPage('This store is paused', 'Its checkout takes no payment now.')
const closed = problemPage('Opening soon', 'Only visitors with the store’s password can enter it.')

/** The cart permalink, the checkout page with its Pay button, and the page after it. */
export function checkoutRoutes(
  app: FastifyInstance,
  options: { state: PlatformState; checkouts: Checkouts; shopUrl: string; now: () => number }
): void {
  const { state, checkouts, shopUrl, now } = options

  app.get('/password', async (_request, reply) => sendPage(reply, closed))

  // A wildcard, because a cart with many rules exceeds the length of a path parameter.
  app.get<{ Params: { '*': string } }>('/cart/*', async (request, reply) => {
    if (state.password) return reply.redirect('/password', 302)
    if (state.paused) return sendPage(reply, paused, 503)
    const query = new URL(request.url, 'http://sandbox').searchParams
    const cart = readPermalink(request.params['*'], query)
    if (!cart)
      return sendPage(reply, problemPage('This is no cart', 'The address has to name variants and quantities.'), 404)
    if (!priceCheckout(state, cart)) return sendPage(reply, notForSale, 404)
    const checkout = await checkouts.open(cart)
    return reply.redirect(`/checkouts/${checkout.token}`, 302)
  })

  app.get<{ Params: { token: string } }>('/checkouts/:token', async (request, reply) => {
    const checkout = checkouts.find(request.params.token)
    if (!checkout) return sendPage(reply, gone, 404)
    if (checkout.orderId) return reply.redirect(`/checkouts/${checkout.token}/thank-you`, 303)
    const priced = priceCheckout(state, checkout, now())
    return priced ? sendPage(reply, checkoutPage(checkout, priced)) : sendPage(reply, notForSale, 404)
  })

  app.post<{ Params: { token: string } }>('/checkouts/:token/codes', async (request, reply) => {
    const checkout = checkouts.find(request.params.token)
    if (!checkout) return sendPage(reply, gone, 404)
    const form = formOf(request.body)
    const code = (form.get('code') ?? '').trim().slice(0, 255)
    if (code !== '' && !checkout.orderId) await checkouts.addCode(checkout, code)
    return reply.redirect(`/checkouts/${checkout.token}`, 303)
  })

  app.post<{ Params: { token: string } }>('/checkouts/:token/pay', async (request, reply) => {
    const form = formOf(request.body)
    const giftCard = GiftCard.safeParse(form.get('gift_card')).data
    const losesAttributes = form.get('loses_attributes') === 'yes'
    const email = (form.get('email') ?? '').trim()
    const outcome = await checkouts.pay(request.params.token, email, { giftCard, losesAttributes })
    if (outcome.ok) return reply.redirect(`/checkouts/${request.params.token}/thank-you`, 303)
    return sendPage(reply, outcome.reason === 'no_checkout' ? gone : notForSale, 404)
  })

  app.get<{ Params: { token: string } }>('/checkouts/:token/thank-you', async (request, reply) => {
    const checkout = checkouts.find(request.params.token)
    if (!checkout) return sendPage(reply, gone, 404)
    const order = checkouts.orderOf(checkout)
    if (!order) return reply.redirect(`/checkouts/${checkout.token}`, 303)
    return sendPage(reply, thankYouPage(order, shopUrl))
  })
}
