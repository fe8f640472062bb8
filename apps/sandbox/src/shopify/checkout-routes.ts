import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, sendPage } from '../kit/http.ts'
import { checkoutPage, problemPage, thankYouPage } from './checkout-pages.ts'
import { readPermalink, type Checkouts } from './checkout.ts'
import { priceCheckout } from './pricing.ts'
import type { PlatformState } from './state.ts'

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
