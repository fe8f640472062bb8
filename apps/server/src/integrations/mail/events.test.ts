import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readMailgunEvents, readSendgridEvents } from './index.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const AT = 1_780_000_000
const hoursLater = (hours: number) => new Date((AT + hours * 3600) * 1000)
const NOW = new Date((AT + 60) * 1000)

describe('SendGrid', () => {
  const send = (events: unknown, { by = privateKey, key: shown = key, now = NOW } = {}) => {
    const body = Buffer.from(typeof events === 'string' ? events : JSON.stringify(events))
    const headers = {
      'x-twilio-email-event-webhook-timestamp': String(AT),
      'x-twilio-email-event-webhook-signature': sign(
        'sha256',
        Buffer.concat([Buffer.from(String(AT)), body]),
        by
      ).toString('base64')
    }
    return readSendgridEvents(body, headers, shown, now)
  }
  const event = (more: object) => ({ email: 'ann@example.com', timestamp: AT, idempotency_key: 'order:1', ...more })

  test.each([
    [{ event: 'bounce', type: 'bounce', reason: '550 5.1.1 no such user' }, 'bounced'],
    [{ event: 'bounce', type: 'blocked', reason: '550 5.7.1 policy' }, 'refused'],
    [{ event: 'dropped', reason: 'Bounced Address' }, 'bounced'],
    [{ event: 'dropped', reason: 'Spam Reporting Address' }, 'complained'],
    [{ event: 'dropped', reason: 'Invalid SMTPAPI header' }, 'refused'],
    [{ event: 'spamreport' }, 'complained']
  ])('%j is told as such', (more, happened) => {
    const read = send([event(more)])
    expect(read).toMatchObject({
      ok: true,
      events: [{ happened, address: 'ann@example.com', key: 'order:1', at: new Date(AT * 1000) }]
    })
  })

  test('entries that are no events, or events without an address, are left out', () => {
    const others = ['processed', 'delivered', 'open', 'click', 'deferred', 'unsubscribe'].map(name =>
      event({ event: name })
    )
    const broken = [
      null,
      7,
      'x',
      [],
      {},
      event({ event: 'bounce', email: 5 }),
      event({ event: 'bounce', timestamp: 1e300 })
    ]
    expect(send([...others, ...broken])).toEqual({ ok: true, events: [], token: null })
  })

  test('only events that are signed with the configured key are accepted', () => {
    const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const bounce = [event({ event: 'bounce' })]
    expect(send(bounce, { by: stranger.privateKey })).toEqual({ ok: false, reason: 'bad_signature' })
    for (const shown of ['', 'no key', key.slice(0, 40)])
      expect(send(bounce, { key: shown })).toEqual({ ok: false, reason: 'bad_signature' })
    expect(readSendgridEvents(Buffer.from('[]'), {}, key, NOW)).toEqual({ ok: false, reason: 'bad_signature' })
    for (const text of ['', '{', '{}', '"x"', '<html>'])
      expect(send(text)).toEqual({ ok: false, reason: 'bad_request' })
  })

  test('events that were signed more than half a day ago, or in the future, are refused', () => {
    const bounce = [event({ event: 'bounce' })]
    for (const hours of [-0.05, 12]) expect(send(bounce, { now: hoursLater(hours) })).toMatchObject({ ok: true })
    for (const hours of [-1, 13, 24 * 365])
      expect(send(bounce, { now: hoursLater(hours) })).toEqual({ ok: false, reason: 'bad_signature' })
  })

  test('texts are cut to what the database can store', () => {
    const read = send([event({ event: 'bounce', reason: `a\0b${'x'.repeat(400)}` })])
    expect(read).toMatchObject({ events: [{ reason: `ab${'x'.repeat(298)}` }] })
  })
})

describe('Mailgun', () => {
  const report = (data: object, signingKey = 'key') => {
    const [timestamp, token] = [String(AT), 'a'.repeat(50)]
    const signature = createHmac('sha256', signingKey)
      .update(timestamp + token)
      .digest('hex')
    return {
      signature: { timestamp, token, signature },
      'event-data': {
        recipient: 'ann@example.com',
        timestamp: AT + 0.5,
        'user-variables': { idempotency_key: 'order:1' },
        ...data
      }
    }
  }

  test('an address or a key that the database cannot store is left out', () => {
    for (const data of [{ recipient: 'g\0@example.com' }, { 'user-variables': { idempotency_key: 'order:\0' } }])
      expect(readMailgunEvents(report({ event: 'complained', ...data }), 'key', NOW)).toMatchObject({
        ok: true,
        events: []
      })
  })

  test.each([
    [
      { event: 'failed', severity: 'permanent', reason: 'bounce', 'delivery-status': { message: 'no such user' } },
      'bounced'
    ],
    [{ event: 'failed', severity: 'permanent', reason: 'suppress-bounce' }, 'bounced'],
    [{ event: 'failed', severity: 'permanent', reason: 'suppress-complaint' }, 'complained'],
    [{ event: 'failed', severity: 'permanent', reason: 'generic' }, 'refused'],
    [{ event: 'complained' }, 'complained']
  ])('%j is told as such', (data, happened) => {
    expect(readMailgunEvents(report(data), 'key', NOW)).toMatchObject({
      ok: true,
      events: [{ happened, address: 'ann@example.com', key: 'order:1', at: new Date(AT * 1000 + 500) }]
    })
  })

  test('retries, deliveries and opens are left out', () => {
    for (const data of [{ event: 'failed', severity: 'temporary' }, { event: 'delivered' }, { event: 'opened' }])
      expect(readMailgunEvents(report(data), 'key', NOW)).toEqual({ ok: true, events: [], token: 'a'.repeat(50) })
  })

  test('only events that are signed with the configured key are accepted', () => {
    const bounce = report({ event: 'complained' }, 'another')
    expect(readMailgunEvents(bounce, 'key', NOW)).toEqual({ ok: false, reason: 'bad_signature' })
    expect(readMailgunEvents(report({ event: 'complained' }, ''), '', NOW)).toEqual({
      ok: false,
      reason: 'bad_signature'
    })
    for (const body of [null, 'x', [], {}, { signature: {}, 'event-data': {} }])
      expect(readMailgunEvents(body, 'key', NOW)).toEqual({ ok: false, reason: 'bad_signature' })
    expect(readMailgunEvents({ ...report({}), 'event-data': {} }, 'key', NOW)).toEqual({
      ok: false,
      reason: 'bad_request'
    })
  })

  test('events that were signed more than half a day ago, or in the future, are refused', () => {
    const bounce = report({ event: 'complained' })
    for (const hours of [-0.05, 12])
      expect(readMailgunEvents(bounce, 'key', hoursLater(hours))).toMatchObject({ ok: true })
    for (const hours of [-1, 13, 24 * 365])
      expect(readMailgunEvents(bounce, 'key', hoursLater(hours))).toEqual({ ok: false, reason: 'bad_signature' })
  })
})
