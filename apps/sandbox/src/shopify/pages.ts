import { html, nothing, page, type Html } from '../kit/http.ts'
import { usesOf } from './pricing.ts'
import { PRODUCT_STATUSES, productsOf, type DiscountCode, type PlatformProduct, type PlatformState } from './state.ts'

export const NOTICE = 'A stand-in shop platform. No money moves here.'

export const table = (heads: readonly string[], rows: readonly Html[]): Html =>
  rows.length === 0
    ? html`<div class="card"><p>Nothing yet.</p></div>`
    : html`<section class="card">
        <table>
          <thead>
            <tr>
              ${heads.map(head => html`<th scope="col"><strong>${head}</strong></th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </section>`

/** The catalogue, with a button that changes prices without a webhook, so that only a sync finds them. */
export const productsPage = (state: PlatformState): string =>
  page(
    'Products',
    NOTICE,
    html`<h1>Products</h1>
      <p class="quiet">
        What the platform sells. A price that is raised here sends no webhook: the shop’s Products → Synchronise shows
        it. Status, Online Store and what is left are told by a webhook.
      </p>
      <form method="post" action="/online_store">
        <button class="plain" style="width: auto" name="password" value="${state.password ? 'no' : 'yes'}">
          ${state.password ? 'Open the Online Store: ask for no password' : 'Ask visitors of the Online Store for a password'}
        </button>
      </form>
      <form method="post" action="/payment_capture">
        <button class="plain" style="width: auto" name="later" value="${state.capturesLater ? 'no' : 'yes'}">
          ${state.capturesLater ? 'Capture payments at the checkout' : 'Only authorise payments at the checkout'}
        </button>
      </form>
      <form method="post" action="/products/import">
        <label for="times">An import that tells of each product so many times</label>
        <input id="times" name="times" type="number" min="1" max="1000" value="100" />
        <button class="plain" style="width: auto">Import</button>
      </form>
      ${table(['Product', 'Tags', 'Prices', 'Sale', ''], productsOf(state).map(productRow))}`
  )

function productRow({ id, title, status, unpublished = false, tags, variants }: PlatformProduct): Html {
  const prices = variants.map(variant => Number(variant.price))
  const [least, most] = [Math.min(...prices), Math.max(...prices)].map(price => price.toFixed(2))
  return html`<tr>
    <td>
      ${title}${status === 'ACTIVE' ? nothing : html` <span class="bad small">${status.toLowerCase()}</span>`}<br />
      <span class="quiet small">${id} · ${variants.length} variants</span>
    </td>
    <td>${tags.join(', ')}</td>
    <td class="num">$${least ?? ''}${least === most ? '' : ` – $${most ?? ''}`}</td>
    <td>
      <form method="post" action="/products/${id}/sale">
        <select name="status" aria-label="Status of ${title}">
          ${PRODUCT_STATUSES.map(
            one =>
              html`<option value="${one}" ${one === status ? html`selected` : nothing}>${one.toLowerCase()}</option>`
          )}
        </select>
        <label class="small">
          <input type="checkbox" name="published" ${unpublished ? nothing : html`checked`} /> Online Store
        </label>
        <label class="small">
          Left of each variant, empty if not counted
          <input type="number" name="stock" min="0" value="${String(variants[0]?.stock ?? '')}" />
        </label>
        <button class="plain" style="margin-top: 0" aria-label="Set the sale of ${title}">Set</button>
      </form>
    </td>
    <td>
      <form method="post" action="/products/${id}/raise">
        <button class="plain" style="margin-top: 0" aria-label="Raise the prices of ${title} by 10 %">+ 10 %</button>
      </form>
    </td>
  </tr>`
}

export const discountsPage = (state: PlatformState): string =>
  page(
    'Discounts',
    NOTICE,
    html`<h1>Discounts</h1>
      <p class="quiet">The codes that the checkout takes. Those that the shop made are tagged so.</p>
      ${table(
        ['Code', 'Takes off', 'For', 'Used'],
        state.discountCodes.map(
          code =>
            html`<tr>
              <td>
                <code>${code.code}</code><br />
                <span class="quiet small">${[code.title, ...(code.tags ?? [])].filter(Boolean).join(' · ')}</span>
              </td>
              <td class="num">${code.type === 'percentage' ? `${code.value} %` : `$${code.value}`}</td>
              <td>${buyersOf(state, code)}</td>
              <td class="num">${usesOf(state, code).length}${code.usageLimit ? ` of ${code.usageLimit}` : ''}</td>
            </tr>`
        )
      )}`
  )

function buyersOf(state: PlatformState, { customers, oncePerCustomer }: DiscountCode): string {
  const named = customers?.map(id => state.customers?.find(one => one.id === id)?.email ?? id)
  return `${named ? named.join(', ') || 'nobody' : 'everybody'}${oncePerCustomer ? ', once each' : ''}`
}

/** The app's scopes, and a button that changes them. */
export function appPage({ scopes, mayAllOrders }: { scopes: () => string[]; mayAllOrders: () => boolean }): string {
  const may = mayAllOrders()
  return page(
    'App',
    NOTICE,
    html`<h1>The shop’s app</h1>
      <section class="card">
        <p>Its access token has these scopes: ${scopes().map(scope => html`<code>${scope}</code> `)}</p>
        <p class="quiet">
          Without <code>read_all_orders</code> the platform shows it no order that is older than 60 days, and neither
          refunds nor tags one for it.
        </p>
        <form method="post" action="/app">
          <button class="plain" name="read_all_orders" value="${may ? 'no' : 'yes'}">
            ${may ? 'Take read_all_orders away' : 'Grant read_all_orders'}
          </button>
        </form>
      </section>`
  )
}

export const customersPage = (state: PlatformState): string =>
  page(
    'Customers',
    NOTICE,
    html`<h1>Customers</h1>
      <p class="quiet">Who has bought here. The shop tags each one with the level of the user.</p>
      ${table(
        ['E-mail', 'Tags', 'Orders'],
        (state.customers ?? []).toReversed().map(
          ({ id, email, tags }) =>
            html`<tr>
              <td>${email}</td>
              <td>${tags.join(', ')}</td>
              <td class="num">${state.orders.filter(order => order.customerId === id).length}</td>
            </tr>`
        )
      )}`
  )
