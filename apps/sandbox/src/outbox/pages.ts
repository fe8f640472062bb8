import { html, nothing, page, type Html } from '../kit/html.ts'
import type { OutboxMail } from './outbox.ts'
import { HAPPENED, type Happened } from './reports.ts'

const NOTICE = 'Sent mail. Nothing here has left this machine.'
const day = (mail: OutboxMail) => mail.sent_at.slice(0, 10)
const time = (mail: OutboxMail) => `${mail.sent_at.slice(11, 19)} UTC`

export function outboxPage(mails: readonly OutboxMail[]): string {
  const empty = html`<div class="card">
    <p>No mail yet. Sign up in the shop, or ask it for a code, and the mail shows here.</p>
  </div>`
  return page(
    'Outbox',
    NOTICE,
    html`<h1>Outbox</h1>
      ${
        mails.length === 0
          ? empty
          : html`<div class="card">
              <table>
                <tbody>
                  ${mails.map(
                    mail =>
                      html`<tr>
                        <td>
                          <a href="/outbox/${mail.id}">${mail.subject === '' ? '(no subject)' : mail.subject}</a
                          ><br /><span class="quiet small">to ${mail.to}</span>
                        </td>
                        <td class="quiet small">${day(mail)}<br />${time(mail)}</td>
                      </tr>`
                  )}
                </tbody>
              </table>
            </div>`
      }`
  )
}

type Reported = { happened: Happened; status: number | null }

const WORDS: Record<Happened, string> = {
  bounced: 'It came back: no such mailbox',
  blocked: 'Its server refused this one mail',
  deferred: 'Its server wants it later',
  complained: 'Its reader calls it spam'
}

export function mailPage(mail: OutboxMail, reported?: Reported): string {
  return page(
    mail.subject,
    NOTICE,
    html`<p><a href="/outbox">All mail</a></p>
      <h1>${mail.subject}</h1>
      <p class="quiet small">From ${mail.from}<br />To ${mail.to}<br />${day(mail)} ${time(mail)}</p>
      ${
        mail.html === ''
          ? nothing
          : html`<section class="card" aria-labelledby="html">
              <h2 id="html">As HTML</h2>
              <iframe
                class="mail"
                title="The mail as HTML"
                sandbox="allow-popups"
                src="/outbox/${mail.id}/html"
              ></iframe>
            </section>`
      }
      <section class="card" aria-labelledby="report">
        <h2 id="report">What becomes of it</h2>
        <p class="quiet small">The mail service tells the shop, signed, as the real one does.</p>
        ${reported ? outcome(reported) : nothing}
        <form method="post" action="/outbox/${mail.id}/report">
          ${HAPPENED.map(happened => html`<button name="happened" value="${happened}">${WORDS[happened]}</button>`)}
        </form>
      </section>
      <section class="card" aria-labelledby="text">
        <h2 id="text">As text</h2>
        <pre>${mail.text}</pre>
      </section>`
  )
}

const outcome = ({ happened, status }: Reported): Html =>
  status === 200
    ? html`<p class="note" role="status">Told the shop: ${WORDS[happened]}.</p>`
    : html`<p class="bad" role="status">
        ${status === null ? 'The shop did not answer.' : `The shop refused the report (HTTP ${status}).`}
      </p>`
