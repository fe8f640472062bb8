import { buildSchema, validate, parse, BreakingChangeType, findSchemaChanges } from 'graphql'
import { expect, test } from 'vitest'
import { realSchema } from '../../apps/sandbox/src/testing/real-schema.ts'
import { documents } from '../../apps/server/src/integrations/shopify/documents.ts'
import { cutSchema, platformSchema } from './platform-schema.ts'

const whole = buildSchema(/* GraphQL */ `
  directive @once(key: String!) on FIELD
  directive @unused on FIELD
  scalar Money
  enum Colour {
    RED
    BLUE
  }
  enum Sorting {
    NAME
    AGE
    SIZE
  }
  interface Node {
    id: ID!
  }
  type Cat implements Node {
    "Which one."
    id: ID!
    name: String! @deprecated
    colour: Colour!
    worth(in: String, on: String!): Money
    friends: [Cat!]!
  }
  type Dog implements Node {
    id: ID!
    barks: Boolean!
  }
  union Pet = Cat | Dog
  input Food {
    grams: Int!
    kind: Colour
    hot: Boolean
  }
  type Query {
    node(id: ID!): Node
    pet(name: String): Pet
    cats(first: Int = 10, sortKey: Sorting = NAME): [Cat!]!
    dogs: [Dog!]!
  }
  type Mutation {
    feed(id: ID!, food: Food!): Cat
  }
`)

const flat = (text: string) => text.replaceAll(/\s+/g, ' ')

test('what documents reach is kept as it is, with what has to be given, and nothing else', () => {
  const read = 'query ($on: String!) { cats(sortKey: AGE) { colour worth(on: $on) } }'
  const cut = flat(cutSchema(whole, [read], {}))
  expect(cut).toContain('type Cat { colour: Colour! worth(on: String!): Money }')
  expect(cut).toContain('type Query { cats(sortKey: Sorting = NAME): [Cat!]! }')
  expect(cut).toContain('enum Colour { RED BLUE }')
  expect(cut).toContain('enum Sorting { NAME AGE }')
  for (const gone of ['Dog', 'Node', 'Pet', 'Food', 'feed', '@unused', '@once', 'SIZE']) expect(cut).not.toContain(gone)
})

test('types that documents tell apart implement what they are told apart of', () => {
  const cut = flat(cutSchema(whole, ['{ node(id: 1) { ... on Cat { name } } }', '{ pet { ... on Cat { id } } }'], {}))
  expect(cut).toContain('interface Node { id: ID! }')
  expect(cut).toContain('type Cat implements Node { id: ID! name: String! }')
  expect(cut).toContain('union Pet = Cat')
  expect(cut).not.toContain('Dog')
})

test('an input has the fields that are listed and those that it needs, else it is a fault', () => {
  const feed = 'mutation ($food: Food!) { feed(id: 1, food: $food) @once(key: "a") { id } }'
  const cut = flat(cutSchema(whole, [feed], { Food: ['kind'] }))
  expect(cut).toContain('input Food { grams: Int! kind: Colour }')
  expect(cut).toContain('directive @once(key: String!) on FIELD')
  expect(() => cutSchema(whole, [feed], {})).toThrow('Food comes as a variable')
  expect(() => cutSchema(whole, [feed], { Food: ['cold'] })).toThrow('Food has no cold')
  const inPlace = flat(cutSchema(whole, ['mutation { feed(id: 1, food: { grams: 5 }) { id } }'], {}))
  expect(inPlace).toContain('input Food { grams: Int! }')
})

test('a document that does not fit the schema is refused', () => {
  expect(() => cutSchema(whole, ['{ cats { nam } }'], {})).toThrow('nam')
})

test('the stand-in’s schema takes every document of the shop, and a client that moves over loses nothing', () => {
  const own = buildSchema(platformSchema())
  for (const [name, document] of Object.entries(documents)) expect(validate(own, parse(document)), name).toEqual([])
  const breaking = new Set<string>(Object.values(BreakingChangeType))
  const lost = findSchemaChanges(own, realSchema()).filter(
    // Each side has the directives of its own library version.
    change => breaking.has(change.type) && !change.type.startsWith('DIRECTIVE')
  )
  expect(lost.map(({ description }) => description)).toEqual([])
})
