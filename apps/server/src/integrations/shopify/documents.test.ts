import { NoDeprecatedCustomRule, parse, validate } from 'graphql'
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
