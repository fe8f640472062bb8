import { BreakingChangeType, buildSchema, findSchemaChanges } from 'graphql'
import { expect, test } from 'vitest'
import { realSchema } from '../testing/real-schema.ts'
import { sdl } from './sdl.ts'

/** What a client of the first schema would lose with the real one. */
function lostAgainstReal(own: string): string[] {
  const breaking = new Set<string>(Object.values(BreakingChangeType))
  return (
    findSchemaChanges(buildSchema(own), realSchema())
      // Directives are the library's own on both sides, of different ages.
      .filter(change => breaking.has(change.type) && !change.type.startsWith('DIRECTIVE'))
      .map(change => change.description)
  )
}

test('the stand-in’s schema is a part of the real one: a client that moves over loses nothing', () => {
  expect(lostAgainstReal(sdl)).toEqual([])
})

test('the comparison notices a field that the real schema lacks', () => {
  const lost = lostAgainstReal(sdl.replace('descriptionHtml: HTML!', 'bodyHtml: HTML!'))
  expect(lost).toHaveLength(1)
  expect(lost[0]).toContain('bodyHtml')
})
