import { renderMail, type Content, type RenderedMail } from './layout.ts'

/** What each template is filled with. Times are ISO 8601 UTC; `sealed_code` is a code sealed by APP_SECRET, base64. */
export type Templates = {
  'sign-up-code': { sealed_code: string; expires_at: string }
  'forgot-code': { sealed_code: string; expires_at: string }
  'proxies-delivered': {
    username: string
    order_id: string
    product_name: string
    proxies: number
    expires_at: string
    dashboard_url: string
  }
  'expiry-reminder': {
    username: string
    order_id: string
    product_name: string
    proxies: number
    expires_at: string
    renew_url: string
  }
  'admin-notice': { subject: string; text: string }
}
export type Template = keyof Templates

/** What a template needs of the shop. */
export type TemplateContext = {
  shopUrl: string
  now: Date
  /** Opens what was sealed. */
  open(sealed: string): string
}

type ContentOf<T extends Template> = (data: Templates[T], shop: TemplateContext) => Content

/** '2026-11-21 10:00 UTC'. */
const day = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`

const minutesLeft = (expiresAt: string, now: Date): string => {
  const minutes = Math.max(1, Math.round((Date.parse(expiresAt) - now.getTime()) / 60_000))
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

const from = (shop: TemplateContext): string => `Netlet, ${shop.shopUrl}`

const contents: { [T in Template]: ContentOf<T> } = {
  'sign-up-code': (data, shop) => ({
    subject: 'Your sign-up code',
    heading: 'Confirm your email address',
    paragraphs: [
      `Type this code into the sign-up form. It is valid for ${minutesLeft(data.expires_at, shop.now)} and works once.`
    ],
    code: shop.open(data.sealed_code),
    footer: `You get this mail because someone is signing up with this address. If it was not you, ignore it. ${from(shop)}`
  }),
  'forgot-code': (data, shop) => ({
    subject: 'Your code for a new password',
    heading: 'Set a new password',
    paragraphs: [
      `Type this code into the form. It is valid for ${minutesLeft(data.expires_at, shop.now)} and works once.`
    ],
    code: shop.open(data.sealed_code),
    footer: `If you did not ask for it, ignore this mail: your password stays as it is. ${from(shop)}`
  }),
  'proxies-delivered': (data, shop) => ({
    subject: `Your proxies are ready: ${data.product_name}`,
    heading: `Hello ${data.username}, your proxies are ready`,
    paragraphs: ['All addresses of your order are live. The list with its credentials is in your dashboard.'],
    facts: [
      ['Order', data.order_id],
      ['Plan', data.product_name],
      ['Proxies', String(data.proxies)],
      ['Valid until', day(data.expires_at)]
    ],
    button: { label: 'Show my proxies', url: data.dashboard_url },
    footer: from(shop)
  }),
  'expiry-reminder': (data, shop) => ({
    subject: `Your proxies expire on ${day(data.expires_at)}`,
    heading: `Hello ${data.username}, your proxies expire soon`,
    paragraphs: [
      'Renew now to keep the same addresses. When the order expires, the proxies stop working and the addresses go back into stock.'
    ],
    facts: [
      ['Order', data.order_id],
      ['Plan', data.product_name],
      ['Proxies', String(data.proxies)],
      ['Expires', day(data.expires_at)]
    ],
    button: { label: 'Renew this order', url: data.renew_url },
    footer: from(shop)
  }),
  'admin-notice': (data, shop) => ({
    subject: data.subject,
    heading: data.subject,
    paragraphs: data.text.split(/\n{2,}/),
    footer: `You get this mail as an administrator of ${shop.shopUrl}`
  })
}

/** Fills a template and renders the mail. */
export const renderTemplate = <T extends Template>(
  template: T,
  data: Templates[T],
  shop: TemplateContext
): Promise<RenderedMail> => renderMail(contents[template](data, shop))
