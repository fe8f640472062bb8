import { expect, test } from 'vitest'
import {
  exampleOf,
  faultsOf,
  schemaOf,
  type JsonSchema,
  type ShopTopic
} from '../../../../sandbox/src/testing/webhook-schemas.ts'
import {
  CancelledOrder,
  DisputeEvent,
  PaidOrder,
  parseExact,
  ProductDeletedEvent,
  ProductEvent,
  RefundEvent,
  TransactionEvent
} from './index.ts'

const shapes = {
  'orders/create': PaidOrder,
  'orders/paid': PaidOrder,
  'orders/cancelled': CancelledOrder,
  'refunds/create': RefundEvent,
  'order_transactions/create': TransactionEvent,
  'disputes/create': DisputeEvent,
  'disputes/update': DisputeEvent,
  'products/create': ProductEvent,
  'products/update': ProductEvent,
  'products/delete': ProductDeletedEvent
} satisfies Record<ShopTopic, unknown>
const topics = Object.keys(shapes) as ShopTopic[]

/** How a body is made from a schema: the required fields, with null if that is allowed, or all fields. */
type Making = 'least' | 'least and null' | 'all' | 'all and null' | 'empty lists'
const makings: Making[] = ['least', 'least and null', 'all', 'all and null', 'empty lists']

/** Values that the platform sends as text in a specific format. */
const TEXTS: Record<string, string> = {
  email: 'buyer@example.test',
  uri: 'gid://shopify/Thing/9007199254740993',
  ipv4: '192.0.2.1',
  'date-time': '2026-07-01T10:00:00-04:00'
}
const MONEY = /price|amount|discount|subtotal|total|tax|value/

function bodyOf(schema: JsonSchema, making: Making, name = ''): unknown {
  const { type, properties, required = [], items, format, anyOf } = schema
  const types = [type ?? []].flat()
  const options = anyOf ?? []
  if (making.endsWith('null') && (types.includes('null') || options.some(one => one.type === 'null'))) return null
  const other = options.find(one => one.type !== 'null')
  if (other) return bodyOf(other, making, name)
  if (properties) {
    const names = making.startsWith('least') ? required : Object.keys(properties)
    return Object.fromEntries(names.map(key => [key, bodyOf(properties[key] ?? {}, making, key)]))
  }
  if (types.includes('object')) return {}
  if (types.includes('array')) return items && making !== 'empty lists' ? [bodyOf(items, making, name)] : []
  if (types.includes('string')) return TEXTS[format ?? ''] ?? (MONEY.test(name) ? '12.50' : 'text')
  if (types.includes('integer')) return 820_982_911
  if (types.includes('number')) return 1.5
  if (types.includes('boolean')) return true
  return null
}

test.for(topics)('%s: all bodies that the platform’s schema allows are read', topic => {
  const schema = schemaOf(topic)
  for (const making of makings) {
    const body = bodyOf(schema, making)
    expect(faultsOf(topic, body), `what was made as ${making}`).toEqual([])
    const read = shapes[topic].safeParse(body)
    expect(read.error?.issues ?? [], making).toEqual([])
  }
})

/** The content of the documentation's bodies for the shop. The package has their ids as rounded numbers. */
const meant: Record<ShopTopic, object> = {
  'orders/paid': {
    id: '820982911946154500',
    order_number: 1234,
    email: 'jon@example.com',
    currency: 'USD',
    total_price: '404.95',
    total_discounts: '20.00',
    discount_codes: [],
    note_attributes: [],
    test: true,
    line_items: expect.arrayContaining([
      expect.objectContaining({ title: 'Coffee table', quantity: 1, current_quantity: 1, price: '119.99' })
    ])
  },
  'orders/create': { id: '820982911946154500', note_attributes: [] },
  'order_transactions/create': {
    id: '120560818172775260',
    order_id: '820982911946154500',
    kind: 'authorization',
    status: 'success'
  },
  'orders/cancelled': { id: '820982911946154500', name: '#9999', financial_status: 'voided' },
  'refunds/create': {
    id: '890088186047892400',
    transactions: [
      { kind: 'refund', status: 'success', amount: '75.00' },
      { kind: 'refund', status: 'success', amount: '10.00' }
    ]
  },
  'disputes/create': {
    type: 'chargeback',
    amount: '11.50',
    currency: 'CAD',
    status: 'under_review',
    finalized_on: null
  },
  'disputes/update': {
    type: 'chargeback',
    amount: '11.50',
    currency: 'CAD',
    status: 'under_review',
    finalized_on: null
  },
  'products/create': { id: '788032119674292900', tags: ['example', 'mens', 't-shirt'] },
  'products/update': { id: '788032119674292900', tags: ['example', 'mens', 't-shirt'] },
  'products/delete': {}
}

test.for(topics)('%s: the documented body is read correctly', topic => {
  expect(shapes[topic].parse(exampleOf(topic, parseExact))).toMatchObject(meant[topic])
})
