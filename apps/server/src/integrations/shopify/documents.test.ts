import {
  getNamedType,
  isObjectType,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  validate,
  type DocumentNode,
  type GraphQLNamedType,
  type SelectionSetNode
} from 'graphql'
import { expect, test } from 'vitest'
import { realSchema } from '../../../../sandbox/src/testing/real-schema.ts'
import { documents } from './documents.ts'

test.each(Object.entries(documents))('%s is valid in the platform’s own schema', (_name, document) => {
  expect(validate(realSchema(), parse(document)).map(error => error.message)).toEqual([])
})

test.each(Object.entries(documents))('%s uses nothing that the platform has deprecated', (_name, document) => {
  expect(validate(realSchema(), parse(document), [NoDeprecatedCustomRule]).map(error => error.message)).toEqual([])
})

test('a wrong field does not slip through', () => {
  const wrong = documents.order.replace('displayFinancialStatus', 'financialStatus')
  expect(validate(realSchema(), parse(wrong))).not.toHaveLength(0)
})

/**
 * The most that a document can cost in the platform's points: one for each object that connections and lists may
 * return, two for a connection, ten for a mutation.
 */
function costOf(document: DocumentNode): number {
  const schema = realSchema()
  const typeOf = (name: string) => schema.getType(name) ?? null
  const fragments = new Map(
    document.definitions.flatMap(one => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : []))
  )
  function cost({ selections }: SelectionSetNode, type: GraphQLNamedType | null | undefined): number {
    let sum = 0
    for (const one of selections) {
      if (one.kind === Kind.INLINE_FRAGMENT)
        sum += cost(one.selectionSet, one.typeCondition && typeOf(one.typeCondition.name.value))
      if (one.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(one.name.value)
        if (fragment) sum += cost(fragment.selectionSet, typeOf(fragment.typeCondition.name.value))
      }
      if (one.kind !== Kind.FIELD || !one.selectionSet || !isObjectType(type)) continue
      const field = type.getFields()[one.name.value]
      const inner = field && getNamedType(field.type)
      const first = one.arguments?.find(({ name }) => name.value === 'first')?.value
      const count = first?.kind === Kind.INT ? Number(first.value) : 1
      // A connection has only one of these, even with many nodes.
      if (inner?.name === 'PageInfo') continue
      const isConnection = inner?.name.endsWith('Connection') === true
      const own = isConnection ? 2 : 0
      const ofEach = (isConnection ? 0 : 1) + cost(one.selectionSet, inner)
      sum += own + count * ofEach
    }
    return sum
  }
  const [operation] = document.definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION)
  if (!operation) throw new Error('no operation')
  const isWrite = operation.operation === 'mutation'
  return (isWrite ? 10 : 0) + cost(operation.selectionSet, isWrite ? schema.getMutationType() : schema.getQueryType())
}

test.each(Object.entries(documents))('%s costs less than the platform lets one call cost', (_name, document) => {
  expect(costOf(parse(document))).toBeLessThanOrEqual(1000)
})

test('the cost of a call includes everything that it may return', () => {
  const orders = 'query { orders(first: 10) { nodes { lineItems(first: 5) { nodes { variant { id } } } } } }'
  // Ten orders with five lines each, and one variant per line, plus the connections.
  expect(costOf(parse(orders))).toBeGreaterThanOrEqual(10 + 10 * 5 * 2)
  expect(costOf(parse(orders.replace('first: 10', 'first: 100')))).toBeGreaterThan(1000)
})
